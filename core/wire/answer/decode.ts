import { SteppedJson } from '../../base/stepped-json.js';
import { LabelSet } from '../../base/label-set.js';
import type { Steps } from '../../base/pace/steps.js';
import type { Point, SampleResult, SeriesResult } from '../../logql/metric/work.js';
import type { ApiRequest } from '../api/request.js';
import { noStats } from './merge/shared.js';
import type { Answer, AnswerStats, Entry, PatternResult, StreamResult } from './types.js';

type Shape = 'query' | 'volume' | 'names' | 'series' | 'index-stats' | 'patterns';

const shapes: Partial<Readonly<Record<ApiRequest['op'], Shape>>> = {
  query: 'query',
  query_range: 'query',
  volume: 'volume',
  volume_range: 'volume',
  labels: 'names',
  label_values: 'names',
  series: 'series',
  index_stats: 'index-stats',
  patterns: 'patterns',
};

/**
 * Reads the body with which a Loki answers a request, the opposite of encodeSteps. Bodies that do not contain the whole answer, such as
 * those of detected fields, cannot be read. Log queries must be asked for with categorized labels.
 * @throws Error for a body that is no such answer
 */
export function* decodeSteps(text: string, request: Pick<ApiRequest, 'op'>): Steps<Answer> {
  const shape = shapes[request.op];
  if (shape === undefined) throw new Error(`bodies of ${request.op} are not read`);
  const reader = new SteppedJson(text);
  const answer = yield* shape === 'index-stats' ? indexStats(reader) : enveloped(reader, shape);
  reader.end();
  return answer;
}

function* enveloped(reader: SteppedJson, shape: Exclude<Shape, 'index-stats'>): Steps<Answer> {
  let status: unknown;
  let found: Answer | undefined;
  let warnings: readonly string[] = [];
  yield* reader.object(function* (name) {
    if (name === 'data') found = yield* dataOf(reader, shape);
    else {
      const value = yield* reader.value();
      if (name === 'status') status = value;
      if (name === 'warnings') warnings = textsOf(value ?? []);
    }
  });
  if (status !== 'success') throw new Error('the status is not success');
  // Loki omits the data of an empty listing.
  const answer =
    found ?? (shape === 'names' ? ({ kind: 'names', values: [], warnings: [] } as const) : undefined);
  if (answer === undefined) throw new Error('there is no data');
  return 'warnings' in answer ? { ...answer, warnings } : answer;
}

function* dataOf(reader: SteppedJson, shape: Exclude<Shape, 'index-stats'>): Steps<Answer> {
  const warnings: readonly string[] = [];
  switch (shape) {
    case 'query':
      return yield* queryData(reader);
    case 'volume': {
      const answer = yield* queryData(reader);
      if (answer.kind === 'matrix') return { ...answer, kind: 'volume' };
      if (answer.kind !== 'vector') throw new Error(`a volume is no ${answer.kind}`);
      const series = answer.samples.map(({ labels, point }) => ({ labels, points: [point] }));
      return { kind: 'volume', series, stats: answer.stats, warnings };
    }
    case 'names': {
      const values: string[] = [];
      yield* reader.elements((some) => values.push(...textsOf(some)));
      return { kind: 'names', values, warnings };
    }
    case 'series': {
      const series: LabelSet[] = [];
      yield* reader.elements((some) => series.push(...some.map(labelsOf)));
      return { kind: 'series', series, warnings };
    }
    case 'patterns': {
      const patterns: PatternResult[] = [];
      yield* reader.elements((some) => patterns.push(...some.map(patternOf)));
      return { kind: 'patterns', patterns, warnings };
    }
  }
}

type QueryData = Extract<Answer, { readonly kind: 'streams' | 'matrix' | 'vector' | 'scalar' }>;

function* queryData(reader: SteppedJson): Steps<QueryData> {
  let kind: unknown;
  let stats = noStats;
  let found: QueryData | undefined;
  yield* reader.object(function* (name) {
    if (name === 'result') found = yield* resultOf(reader, kind);
    else {
      const value = yield* reader.value();
      if (name === 'resultType') kind = value;
      if (name === 'stats') stats = statsOf(value);
    }
  });
  if (found === undefined) throw new Error('there is no result');
  return { ...found, stats };
}

function* resultOf(reader: SteppedJson, kind: unknown): Steps<QueryData> {
  const own = { stats: noStats, warnings: [] };
  switch (kind) {
    case 'streams': {
      const streams: StreamResult[] = [];
      yield* reader.array(function* () {
        const { labels, values } = yield* labelled(reader, 'stream', entryOf);
        streams.push({ labels, entries: values });
      });
      return { kind, streams, ...own };
    }
    case 'matrix': {
      const series: SeriesResult[] = [];
      yield* reader.array(function* () {
        const { labels, values } = yield* labelled(reader, 'metric', pointOf);
        series.push({ labels, points: values });
      });
      return { kind, series, ...own };
    }
    case 'vector': {
      const samples: SampleResult[] = [];
      yield* reader.elements((some) => samples.push(...some.map(sampleOf)));
      return { kind, samples, ...own };
    }
    case 'scalar':
      return { kind, point: pointOf(yield* reader.value()), ...own };
    default:
      throw new Error(`the type of the result is ${String(kind).slice(0, 100)}`);
  }
}

/** Reads labels and values, such as `{"metric":{},"values":[]}`. */
function* labelled<Value>(
  reader: SteppedJson,
  labelsName: string,
  read: (value: unknown) => Value,
): Steps<{ readonly labels: LabelSet; readonly values: readonly Value[] }> {
  let labels = LabelSet.empty;
  const values: Value[] = [];
  yield* reader.object(function* (name) {
    if (name === 'values')
      yield* reader.elements((some) => {
        for (const value of some) values.push(read(value));
      });
    else {
      const value = yield* reader.value();
      if (name === labelsName) labels = labelsOf(value);
    }
  });
  return { labels, values };
}

function* indexStats(reader: SteppedJson): Steps<Answer> {
  const value = membersOf(yield* reader.value());
  const count = (name: string): number => numberOf(value.get(name) ?? 0);
  const [streams, chunks] = [count('streams'), count('chunks')];
  const [bytes, entries] = [count('bytes'), count('entries')];
  return {
    kind: 'index-stats',
    streams,
    chunks,
    bytes,
    entries,
    warnings: textsOf(value.get('warnings') ?? []),
  };
}

function entryOf(value: unknown): Entry {
  const [timestamp, line, groups] = listOf(value);
  const named = membersOf(groups ?? {});
  return {
    timestampNs: BigInt(textOf(timestamp)),
    line: textOf(line),
    structuredMetadata: labelsOf(named.get('structuredMetadata') ?? {}),
    parsed: labelsOf(named.get('parsed') ?? {}),
  };
}

function sampleOf(value: unknown): SampleResult {
  const named = membersOf(value);
  return { labels: labelsOf(named.get('metric')), point: pointOf(named.get('value')) };
}

function pointOf(pair: unknown): Point {
  const [seconds, value] = listOf(pair);
  return { timestampMs: Math.round(numberOf(seconds) * 1000), value: sampleValue(textOf(value)) };
}

const infinities: ReadonlyMap<string, number> = new Map([
  ['+Inf', Infinity],
  ['-Inf', -Infinity],
  ['NaN', NaN],
]);

function sampleValue(text: string): number {
  const value = infinities.get(text) ?? Number(text);
  if (Number.isNaN(value) && text !== 'NaN') throw new Error(`a value is ${text.slice(0, 100)}`);
  return value;
}

function patternOf(value: unknown): PatternResult {
  const named = membersOf(value);
  const level = named.get('level');
  return {
    pattern: textOf(named.get('pattern')),
    level: level === undefined ? undefined : textOf(level),
    samples: listOf(named.get('samples') ?? []).map((sample) => {
      const [seconds, count] = listOf(sample);
      return [numberOf(seconds), numberOf(count)] as const;
    }),
  };
}

function statsOf(value: unknown): AnswerStats {
  const summary = membersOf(membersOf(value ?? {}).get('summary') ?? {});
  const count = (name: string): number => numberOf(summary.get(name) ?? 0);
  return {
    linesProcessed: count('totalLinesProcessed'),
    bytesProcessed: count('totalBytesProcessed'),
    entriesReturned: count('totalEntriesReturned'),
    postFilterLines: count('totalPostFilterLines'),
    structuredMetadataBytes: count('totalStructuredMetadataBytesProcessed'),
    execTimeMs: count('execTime') * 1000,
    splits: count('splits'),
  };
}

function labelsOf(value: unknown): LabelSet {
  return LabelSet.from([...membersOf(value)].map(([name, text]) => [name, textOf(text)] as const));
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('an object is missing');
  return new Map(Object.entries(value));
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('an array is missing');
  return value;
}

function textsOf(value: unknown): readonly string[] {
  return listOf(value).map(textOf);
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a text is missing');
  return value;
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new Error('a number is missing');
  return value;
}
