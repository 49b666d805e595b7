import { JsonReader } from './json-reader.js';

/** The source that Grafana assigns to a label: the index, structured metadata, or a parser of the query. */
export type LabelType = 'I' | 'S' | 'P';

/** One row of Grafana's logs table. */
export interface LogRow {
  readonly timestampNs: bigint;
  readonly line: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Empty if the response does not separate the groups. */
  readonly types: ReadonlyMap<string, LabelType>;
}

/** One series of Grafana: seconds since the epoch, and the value. */
export interface GrafanaSeries {
  readonly labels: ReadonlyMap<string, string>;
  readonly points: readonly (readonly [seconds: number, value: number])[];
}

/** Grafana's result after it has read the response of a data query. */
export interface GrafanaAnswer {
  readonly resultType: string;
  readonly encodingFlags: readonly string[];
  /** Keys of `data` in the order of the response. */
  readonly order: readonly string[];
  readonly rows: readonly LogRow[];
  /** Label sets of the response's streams, one for each. */
  readonly streams: readonly ReadonlyMap<string, string>[];
  readonly series: readonly GrafanaSeries[];
  readonly stats: unknown;
  readonly notices: readonly string[];
}

interface Draft {
  resultType: string | undefined;
  early: string | undefined;
  readonly encodingFlags: string[];
  readonly order: string[];
  readonly rows: LogRow[];
  readonly streams: ReadonlyMap<string, string>[];
  readonly series: GrafanaSeries[];
  stats: unknown;
}

/**
 * Reads the response of query or query_range in one pass, by the rules of Grafana's data source backend: the flags before `result` decide
 * if tuples have two or three items, and stats count only after it. Throws where Grafana would show an error.
 */
export function readGrafanaAnswer(text: string): GrafanaAnswer {
  const reader = new JsonReader(text);
  let [status, errorType, error] = ['unknown', '', ''];
  let draft: Draft | undefined;
  const notices: string[] = [];
  for (const key of reader.keys()) {
    switch (key) {
      case 'status':
        status = reader.string();
        break;
      case 'data':
        draft = readData(reader);
        break;
      case 'errorType':
        errorType = reader.string();
        break;
      case 'error':
        error = reader.string();
        break;
      case 'warnings':
      case 'infos':
        reader.items(() => notices.push(reader.string()));
        break;
      default:
        reader.skip();
    }
  }
  if (status === 'error') throw new Error(`${errorType}: ${error}`);
  if (draft?.resultType === undefined) throw new Error('no data');
  const { resultType } = draft;
  return { ...draft, resultType, notices };
}

function readData(reader: JsonReader): Draft {
  if (reader.next() !== 'object') throw new Error('expected object type');
  const draft: Draft = {
    resultType: undefined,
    early: undefined,
    encodingFlags: [],
    order: [],
    rows: [],
    streams: [],
    series: [],
    stats: undefined,
  };
  for (const key of reader.keys()) {
    draft.order.push(key);
    switch (key) {
      case 'encodingFlags':
        reader.items(() => draft.encodingFlags.push(reader.string()));
        break;
      case 'resultType':
        draft.resultType = reader.string();
        // An earlier result is read now, with the flags known so far.
        if (draft.early !== undefined) readResult(new JsonReader(draft.early), draft.resultType, draft);
        break;
      case 'result':
        if (draft.resultType === undefined) draft.early = reader.raw();
        else readResult(reader, draft.resultType, draft);
        break;
      case 'stats': {
        const stats = reader.any();
        // Grafana attaches the statistics to the first frame; without a frame they are lost.
        if (draft.rows.length + draft.series.length > 0) draft.stats = stats;
        break;
      }
      default:
        reader.skip();
    }
  }
  if (draft.resultType === undefined) throw new Error('no resultType found');
  return draft;
}

function readResult(reader: JsonReader, resultType: string, draft: Draft): void {
  switch (resultType) {
    case 'matrix':
    case 'vector':
      reader.items(() => draft.series.push(readSeries(reader)));
      return;
    case 'streams': {
      const isCategorized = draft.encodingFlags.includes('categorize-labels');
      reader.items(() => readStream(reader, isCategorized, draft));
      return;
    }
    case 'scalar':
      draft.series.push({ labels: new Map(), points: [readPoint(reader)] });
      return;
    default:
      throw new Error(`unknown result type: ${resultType}`);
  }
}

function readSeries(reader: JsonReader): GrafanaSeries {
  let labels = new Map<string, string>();
  const points: (readonly [number, number])[] = [];
  for (const key of reader.keys()) {
    switch (key) {
      case 'metric':
        labels = reader.stringMap();
        break;
      case 'value':
        points.push(readPoint(reader));
        break;
      case 'values':
        reader.items(() => points.push(readPoint(reader)));
        break;
      default:
        reader.skip();
    }
  }
  return { labels, points };
}

function readPoint(reader: JsonReader): readonly [number, number] {
  reader.startTuple();
  const seconds = reader.number();
  reader.comma();
  const text = reader.string();
  reader.endTuple();
  return [seconds, readGoFloat(text)];
}

function readGoFloat(text: string): number {
  const infinite = /^([+-]?)Inf$/i.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  if (text === 'NaN') return NaN;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text))
    throw new Error(`parsing "${text}": invalid syntax`);
  return Number(text);
}

function readStream(reader: JsonReader, isCategorized: boolean, draft: Draft): void {
  let indexed = new Map<string, string>();
  for (const key of reader.keys()) {
    switch (key) {
      case 'stream':
        indexed = reader.stringMap();
        draft.streams.push(indexed);
        break;
      case 'values':
        reader.items(() => {
          reader.startTuple();
          const timestampNs = readTimestamp(reader.string());
          reader.comma();
          const line = reader.string();
          if (isCategorized) reader.comma();
          const groups = isCategorized ? readGroups(reader) : noGroups;
          reader.endTuple();
          draft.rows.push({ timestampNs, line, ...mergeLabels(indexed, groups, isCategorized) });
        });
        break;
      default:
        reader.skip();
    }
  }
}

interface Groups {
  readonly metadata: ReadonlyMap<string, string>;
  readonly parsed: ReadonlyMap<string, string>;
}
const noGroups: Groups = { metadata: new Map(), parsed: new Map() };

function readGroups(reader: JsonReader): Groups {
  let { metadata, parsed } = noGroups;
  for (const key of reader.keys()) {
    if (key === 'structuredMetadata') metadata = reader.stringMap();
    else if (key === 'parsed') parsed = reader.stringMap();
    else throw new Error(`unsupported field in the third item: ${key}`);
  }
  return { metadata, parsed };
}

/** Resolves names in several groups: a parsed label wins over metadata, and metadata over the index. */
function mergeLabels(
  indexed: ReadonlyMap<string, string>,
  { metadata, parsed }: Groups,
  isCategorized: boolean,
): Pick<LogRow, 'labels' | 'types'> {
  if (!isCategorized) return { labels: indexed, types: new Map() };
  const types = new Map<string, LabelType>();
  for (const name of indexed.keys()) types.set(name, 'I');
  for (const name of metadata.keys()) types.set(name, 'S');
  for (const name of parsed.keys()) types.set(name, 'P');
  return { labels: new Map([...indexed, ...metadata, ...parsed]), types };
}

function readTimestamp(text: string): bigint {
  if (text.length < 10 || !/^\d+$/.test(text)) {
    throw new Error(`unexpected time format '${text}' in response. response may have been truncated`);
  }
  return BigInt(text);
}

/** The rules that a proxy must follow even if Grafana tolerates deviations. */
export interface AnswerRules {
  /** True if the request asked for categorized labels. */
  readonly isCategorized: boolean;
}

/**
 * Reads a response as Grafana does and checks the whole contract: the order resultType, encodingFlags, result, stats; flags only on streams
 * that asked for them; timestamps of 19 digits; one sort order in each stream.
 */
export function checkGrafanaAnswer(text: string, { isCategorized }: AnswerRules): GrafanaAnswer {
  const answer = readGrafanaAnswer(text);
  const hasFlags = isCategorized && answer.resultType === 'streams';
  const wanted = ['resultType', ...(hasFlags ? ['encodingFlags'] : []), 'result', 'stats'];
  if (answer.order.join() !== wanted.join()) {
    throw new Error(`keys of data are ${answer.order.join(', ')}; wanted ${wanted.join(', ')}`);
  }
  const flags = hasFlags ? 'categorize-labels' : '';
  if (answer.encodingFlags.join() !== flags) throw new Error(`flags are ${answer.encodingFlags.join()}`);
  const short = answer.rows.find(({ timestampNs }) => String(timestampNs).length !== 19);
  if (short !== undefined) throw new Error(`a time of other than 19 digits: ${short.timestampNs}`);
  for (const { points } of answer.series) checkPoints(points);
  if (new Set(answer.streams.map(labelKey)).size !== answer.streams.length) {
    throw new Error('two streams have the same labels');
  }
  return answer;
}

function checkPoints(points: GrafanaSeries['points']): void {
  points.forEach(([seconds], index) => {
    const before = points[index - 1]?.[0];
    if (before !== undefined && before >= seconds) throw new Error(`points out of order at ${seconds}`);
    if (seconds !== Number(seconds.toFixed(3))) throw new Error(`more than milliseconds in ${seconds}`);
  });
}

/** Labels as one text, for comparing and grouping. */
export function labelKey(labels: ReadonlyMap<string, string>): string {
  return JSON.stringify([...labels].sort(([a], [b]) => (a < b ? -1 : 1)));
}
