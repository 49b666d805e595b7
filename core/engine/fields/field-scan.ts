import type { DetectedField, Entry, FieldParser, FieldType } from '../../wire/answer/types.js';
import { LabelSet } from '../../base/label-set.js';
import {
  keyPathsEvaluator,
  type LineEvaluator,
  type LinePlace,
  pipelineEvaluator,
} from '../../logql/lines/evaluator.js';
import type { KeyPath, PathsByLabel } from '../../logql/pipeline/key-table.js';
import { ownText } from '../../logql/pipeline/slot.js';
import {
  errorDetailsLabel,
  errorLabel,
  preserveErrorLabel,
  type PipelineEntry,
  type PipelineLine,
} from '../../logql/pipeline/types.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, textBytes } from '../../base/memory/byte-lru.js';
import { eachAtPace, Pacer } from '../../base/pace/steps.js';
import { parseBytes, formatBytes } from '../../logql/values/bytes.js';
import { parseGoDuration, parseGoFloat, parseGoInt } from '../../base/time/index.js';
import { parseQuery, type Stage } from '../../logql/index.js';
import { jsonError } from '../../logql/pipeline/json-value.js';
import { logfmtError } from '../../logql/stages/logfmt.js';

export interface FieldScanOptions {
  /** Maximum number of fields to collect; later ones are left out. */
  readonly maxFields: number;
  /** True if JSON keys keep their dots (`-logql-dotted-names` accepts them). */
  readonly keepsDots: boolean;
  /** Collects this field only. */
  readonly only?: string;
}

interface OpenField {
  /**
   * The value that determines the type. As in Loki, every line redefines it, so the line read last decides: by the value that the query's
   * parsers extracted, or else by the value found in the line. The same holds for the last JSON line and the path.
   */
  last: string;
  readonly parsers: Set<FieldParser>;
  /** The last JSON line with the field, and its label there; its path is shown. */
  lastJson: LineFields | undefined;
  lastLabel: string;
  readonly values: Set<string>;
}

/** Bytes of a field with its two sets. */
const fieldBytes = 700;
const hidden: ReadonlySet<string> = new Set([errorLabel, errorDetailsLabel, preserveErrorLabel]);

/**
 * Collects the fields of log entries: structured metadata, values extracted by the query's parsers, and values that a parser finds in the
 * line.
 */
export class FieldScan {
  readonly #options: FieldScanOptions;
  readonly #reader: LineFieldReader;
  readonly #pacer: Pacer;
  readonly #memory: MemoryAccount;
  readonly #fields = new Map<string, OpenField>();

  /** @param place evaluates expensive lines; memory is charged to its account */
  constructor(options: FieldScanOptions, place: LinePlace & { readonly memory: MemoryAccount }) {
    this.#options = options;
    this.#memory = place.memory;
    this.#reader = new LineFieldReader(place);
    this.#pacer = new Pacer(place.signal);
  }

  /** Adds an entry; call again only after the previous call has finished. */
  async add(
    stream: LabelSet,
    { structuredMetadata, parsed, line }: Pick<Entry, 'structuredMetadata' | 'parsed' | 'line'>,
  ): Promise<void> {
    for (const [label, value] of structuredMetadata.labels) this.#take(label, label, value);
    const found = await this.#reader.read(line, stream);
    await eachAtPace(parsed.labels, this.#pacer, ([label, value]) =>
      this.#take(label, label, this.#shown(value), found),
    );
    if (found === undefined) return;
    const pathOf = this.#options.keepsDots ? await found.readPaths() : noPaths;
    await eachAtPace(found.labels.labels, this.#pacer, ([label, value]) => {
      const typed = parsed.has(label) ? parsed.get(label) : value;
      this.#take(nameOf(label, pathOf(label)), label, this.#shown(value), found, this.#shown(typed));
    });
  }

  async fields(): Promise<readonly DetectedField[]> {
    const fields: DetectedField[] = [];
    const paths = await this.#lastPaths();
    await eachAtPace(this.#fields, this.#pacer, ([label, { last, parsers, lastJson, lastLabel, values }]) =>
      fields.push({
        label,
        type: fieldTypeOf(last),
        parsers: [...parsers],
        jsonPath: lastJson && paths.get(lastJson)?.(lastLabel),
        values: [...values],
      }),
    );
    return fields;
  }

  /** Converts sizes to the form in which a query can compare them. */
  #shown(value: string): string {
    return this.#options.only === undefined ? value : (shownSize(value) ?? value);
  }

  /** Finds the paths of fields. That requires parsing a line again, so only lines that are the last one of some field are parsed. */
  async #lastPaths(): Promise<ReadonlyMap<LineFields, LinePaths>> {
    const paths = new Map<LineFields, LinePaths>();
    for (const { lastJson } of this.#fields.values())
      if (lastJson !== undefined && !paths.has(lastJson)) paths.set(lastJson, await lastJson.readPaths());
    return paths;
  }

  /** @param typed the value that decides the type */
  #take(name: string, label: string, value: string, found?: LineFields, typed = value): void {
    if (hidden.has(name)) return;
    const field = this.#fieldOf(name);
    if (field === undefined) return;
    field.last = typed;
    if (!field.values.has(value)) {
      this.#memory.charge(entryBytes + textBytes(value), 'the values of fields');
      field.values.add(ownText(value));
    }
    if (found === undefined) return;
    field.parsers.add(found.parser);
    if (found.parser === 'json') [field.lastJson, field.lastLabel] = [found, label];
  }

  #fieldOf(label: string): OpenField | undefined {
    const known = this.#fields.get(label);
    if (known !== undefined) return known;
    if (!this.#hasRoom(label)) return undefined;
    this.#memory.charge(fieldBytes + textBytes(label), 'the values of fields');
    const made: OpenField = {
      last: '',
      parsers: new Set(),
      lastJson: undefined,
      lastLabel: '',
      values: new Set(),
    };
    this.#fields.set(label, made);
    return made;
  }

  #hasRoom(label: string): boolean {
    const { maxFields, only } = this.#options;
    return this.#fields.size < maxFields && (only === undefined || label === only);
  }
}

/** The shown name: a key with dots is unchanged if names may have dots. */
function nameOf(label: string, path: KeyPath | undefined): string {
  const [key, ...below] = path ?? [];
  return key?.includes('.') === true && below.length === 0 ? key : label;
}

const boolean = /^(?:true|false|True|False|TRUE|FALSE|[tfTF])$/;
/** Maximum length of a number; longer values are strings. */
const longest = 64;

/** The first type that fits a value: integer, number, boolean, duration, size, otherwise string. */
export function fieldTypeOf(value: string): FieldType {
  if (value === '' || value.length > longest) return 'string';
  if (parseGoInt(value).kind === 'ok') return 'int';
  if (parseGoFloat(value).kind === 'ok') return 'float';
  if (boolean.test(value)) return 'boolean';
  if (parseGoDuration(value) !== undefined) return 'duration';
  return parseBytes(value) === undefined ? 'string' : 'bytes';
}

/** Fields that a parser finds in a line. */
interface LineFields {
  readonly parser: FieldParser;
  readonly labels: LabelSet;
  /** Parses the line again, once, to find the paths of its values; empty for logfmt. */
  readonly readPaths: () => Promise<LinePaths>;
}

/** The path of a label's value in the JSON line. */
type LinePaths = (label: string) => KeyPath | undefined;

/** Parses lines like `| json`, or like `| logfmt` if that fails; expensive lines are evaluated in `place`. */
class LineFieldReader {
  readonly #json: LineEvaluator<PipelineLine | undefined>;
  readonly #logfmt: LineEvaluator<PipelineLine | undefined>;
  readonly #paths: LineEvaluator<PathsByLabel>;

  constructor(place: LinePlace) {
    this.#json = pipelineEvaluator(stagesOf('json'), place);
    this.#logfmt = pipelineEvaluator(stagesOf('logfmt'), place);
    this.#paths = keyPathsEvaluator(place);
  }

  /** The fields of a line, with suffixed names where its stream has the name already; undefined if no parser can read the line. */
  async read(line: string, stream: LabelSet): Promise<LineFields | undefined> {
    const entry = { stream, structuredMetadata: LabelSet.empty, timestampNs: 0n, line };
    const json = await this.#json.of(entry);
    if (json !== undefined && json.parsed.get(errorLabel) !== jsonError)
      return { parser: 'json', labels: json.parsed, readPaths: once(() => this.#readPaths(entry)) };
    const logfmt = await this.#logfmt.of(entry);
    if (logfmt === undefined || logfmt.parsed.get(errorLabel) === logfmtError) return undefined;
    return { parser: 'logfmt', labels: logfmt.parsed, readPaths: () => Promise.resolve(noPaths) };
  }

  async #readPaths(entry: PipelineEntry): Promise<LinePaths> {
    const paths = await this.#paths.of(entry);
    return (label) => paths.get(label);
  }
}

function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return () => (value ??= read());
}

/** For a line without paths, or whose paths are not needed. */
const noPaths: LinePaths = () => undefined;

function stagesOf(parser: FieldParser): readonly Stage[] {
  const query = parseQuery(`{stream="any"} | ${parser}`, { dottedNames: 'reject' });
  return query.kind === 'log' ? query.stages : [];
}

const endsInUnit = /(?:b|[kmgtpe]i?)$/i;

/**
 * A size with a unit in the form in which Loki prints sizes: powers of 1000, without a space (`13KiB` becomes `13kB`); undefined for other
 * texts.
 */
function shownSize(value: string): string | undefined {
  if (!endsInUnit.test(value)) return undefined;
  const size = parseBytes(value);
  return size === undefined ? undefined : formatBytes(size);
}
