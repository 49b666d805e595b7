import { Memo } from '../../base/memory/byte-lru.js';
import { type Label, LabelSet } from '../../base/label-set.js';
import type { PipelineEntry } from '../../logql/pipeline/types.js';
import { type BackendRow, columnOf, columnsOf, isOwnColumn } from '../upstream/types.js';
import { levelNames, normalLevel } from './level-words.js';
import { detectedLevelName, levelOfLine, storedLevel } from './level.js';
import { rebuildLine } from './missing-line.js';
import type { Naming } from './naming.js';
import { isFilledIn } from './otlp-fill.js';
import { shownValue } from './shown-value.js';
import { identifyStream, type StreamIdentity } from './stream-identity.js';

/** A `_time` that is not RFC3339 UTC: the backend violated its contract. */
export class RowTimeError extends Error {
  override readonly name = 'RowTimeError';
}

/** `2026-11-01T05:59` */
const minuteLength = 16;
const minuteShape = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;
/** Nanoseconds of the first decimal place. */
const tenthNs = 100_000_000;

let lastMinuteText = '';
let lastMinuteNs = 0n;

/**
 * Parses the `_time` of a row to nanoseconds since the epoch.
 * @throws RowTimeError
 */
export function parseRowTime(text: string): bigint {
  // Consecutive rows mostly share their minute, and parsing the date is the expensive part.
  if (lastMinuteText === '' || !text.startsWith(lastMinuteText)) readMinute(text);
  return lastMinuteNs + BigInt(nanosecondsOfMinute(text));
}

function readMinute(text: string): void {
  const minuteText = text.slice(0, minuteLength);
  const ms = minuteShape.test(minuteText) ? Date.parse(`${minuteText}Z`) : NaN;
  if (Number.isNaN(ms)) throw malformed(text);
  lastMinuteText = minuteText;
  lastMinuteNs = BigInt(ms) * 1_000_000n;
}

/** Parses `:SS[.fraction]Z` after the minute, with up to nine digits of fraction. */
function nanosecondsOfMinute(text: string): number {
  const last = text.length - 1;
  const seconds = 10 * digitAt(text, minuteLength + 1) + digitAt(text, minuteLength + 2);
  const point = minuteLength + 3;
  const digits = last - point - 1;
  const isWhole = last === point;
  const hasFraction = text[point] === '.' && digits >= 1 && digits <= 9;
  if (text[minuteLength] !== ':' || text[last] !== 'Z' || seconds > 59 || !(isWhole || hasFraction))
    throw malformed(text);
  let nanoseconds = seconds * 1_000_000_000;
  let unit = tenthNs;
  for (let at = point + 1; at < last; at += 1) {
    nanoseconds += digitAt(text, at) * unit;
    unit /= 10;
  }
  return nanoseconds;
}

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 48;
  if (digit >= 0 && digit <= 9) return digit;
  throw malformed(text);
}

function malformed(text: string): RowTimeError {
  return new RowTimeError(`malformed _time: ${text.slice(0, 60)}`);
}

/** A backend row as Loki would have stored it. */
export interface LogRow {
  readonly timestampNs: bigint;
  readonly line: string;
  readonly stream: StreamIdentity;
  readonly structuredMetadata: LabelSet;
  /** True if the backend has no line for the row, so that no backend filter has seen this one. */
  readonly isRebuilt: boolean;
}

/** Converts a row to the input of a pipeline. */
export function pipelineEntry({ stream, structuredMetadata, timestampNs, line }: LogRow): PipelineEntry {
  return { stream: stream.labels, structuredMetadata, timestampNs, line };
}

/** Fields other than labels and the line that may hold a level. */
const levelSources: ReadonlySet<string> = new Set([...levelNames, 'severity_number', detectedLevelName]);
const keptStreams = 60_000;
const recentStreams = 2_000;
const keptFields = 4096;
const keptLevels = 1000;

/** The way in which a structured metadata field is shown. */
interface ShownField {
  /** Its name in Loki's form. */
  readonly sanitized: string;
  /** The names under which it is shown. */
  readonly names: readonly string[];
}

/** Labels and metadata from the fields of a row, independent of its line. */
interface ReadFields {
  readonly labels: readonly Label[];
  /** True if the stored `detected_level` is among them. */
  readonly isWhole: boolean;
  /** The level; undefined if the line decides. */
  readonly level: string | undefined;
  /** The labels with the level that was used last. */
  shown: { readonly level: string; readonly set: LabelSet } | undefined;
}

interface ReadStream {
  readonly text: string;
  readonly stream: StreamIdentity;
  readonly recent: RecentFields<ReadFields> | undefined;
  /** The result for a row without fields of its own. */
  withoutFields: ReadFields | undefined;
}

/** Converts backend rows to Loki's view of them. Caches the streams it has seen, so use one per pipeline. */
export class RowReader {
  readonly #naming: Naming;
  readonly #streams = new Map<string, ReadStream>();
  #last: ReadStream | undefined;
  readonly #levelLabels = new Memo<string, Label>(keptLevels, (level) => [detectedLevelName, level]);
  readonly #levelOnly = new Memo<string, LabelSet>(keptLevels, (level) =>
    LabelSet.from([this.#levelLabels.get(level)]),
  );
  readonly #pushedFields = new Memo<string, ShownField>(keptFields, (field) =>
    this.#shownField(field, false),
  );
  readonly #otelFields = new Memo<string, ShownField>(keptFields, (field) => this.#shownField(field, true));

  constructor(naming: Naming) {
    this.#naming = naming;
  }

  /** The stream for a `_stream` text. */
  stream(text: string): StreamIdentity {
    return this.#readStream(text).stream;
  }

  #readStream(text: string): ReadStream {
    // Consecutive rows mostly have the same stream, and a newly parsed text must be hashed before a map can find it.
    if (this.#last?.text === text) return this.#last;
    let known = this.#streams.get(text);
    if (known === undefined) {
      if (this.#streams.size >= keptStreams) this.#streams.clear();
      // Common field sets of rows are only remembered for a limited number of streams, because they take more memory.
      const recent = this.#streams.size < recentStreams ? new RecentFields<ReadFields>() : undefined;
      known = { text, stream: identifyStream(text, this.#naming), recent, withoutFields: undefined };
      this.#streams.set(text, known);
    }
    this.#last = known;
    return known;
  }

  /** @param lineLevel the level of the row's line, if already known */
  read(row: BackendRow, lineLevel?: string): LogRow {
    const from = this.#readStream(row._stream ?? '{}');
    const { stream } = from;
    const msg = row._msg ?? '';
    const isRebuilt = this.#naming.isMissingLine(msg);
    const line = isRebuilt ? rebuildLine(lineFields(row, stream)) : msg;
    return {
      timestampNs: parseRowTime(row._time ?? ''),
      line,
      stream,
      structuredMetadata: isRebuilt
        ? this.#ofRebuilt(row, from, line)
        : this.#ofStored(row, from, line, lineLevel),
      isRebuilt,
    };
  }

  #ofStored(row: BackendRow, from: ReadStream, line: string, lineLevel: string | undefined): LabelSet {
    const fields = this.#fieldsOf(row, from);
    const level = fields.level ?? lineLevel ?? levelOfLine(line, this.#naming.scansBodies);
    return this.#metadata(fields, from, level);
  }

  /** The metadata of a row without a stored line: its fields are its line, and not metadata as well. */
  #ofRebuilt(row: BackendRow, from: ReadStream, line: string): LabelSet {
    const { scansBodies } = this.#naming;
    from.withoutFields ??= this.#readFields({}, from.stream);
    const ofLine = scansBodies ? undefined : this.#fieldsOf(row, from).level;
    const level = from.withoutFields.level ?? ofLine ?? levelOfLine(line, scansBodies);
    return this.#metadata(from.withoutFields, from, level);
  }

  #metadata(fields: ReadFields, from: ReadStream, level: string): LabelSet {
    if (fields.shown?.level !== level)
      fields.shown = { level, set: this.#withLevel(fields, level, from.stream) };
    return fields.shown.set;
  }

  #withLevel({ labels, isWhole }: ReadFields, level: string, stream: StreamIdentity): LabelSet {
    if (isWhole) return setOf(labels);
    if (labels.length === 0 && !stream.labelNames.has(detectedLevelName)) return this.#levelOnly.get(level);
    return setOf([...labels, this.#levelLabels.get(level)]);
  }

  #fieldsOf(row: BackendRow, { stream, recent }: ReadStream): ReadFields {
    const known = recent?.get(row);
    if (known !== undefined) return known;
    const made = this.#readFields(row, stream);
    recent?.keep(row, made);
    return made;
  }

  #readFields(row: BackendRow, stream: StreamIdentity): ReadFields {
    const fromOtlp = stream.looksLikeOtlp && (columnOf(row, 'severity_number') ?? '') !== '';
    const shownFields = fromOtlp ? this.#otelFields : this.#pushedFields;
    // Most rows only have the fields of their stream.
    let shown: ShownValues | undefined;
    let ofLevel: ShownValues | undefined;
    const add = (field: string, value: string): void => {
      if (fromOtlp && isFilledIn(field, value, row)) return;
      const { sanitized, names } = shownFields.get(field);
      if (levelSources.has(sanitized)) (ofLevel ??= new ShownValues(fromOtlp)).add(sanitized, value, field);
      shown ??= new ShownValues(fromOtlp);
      for (const name of names) shown.add(name, value, field);
    };
    for (const [field, value] of stream.metadata) add(field, value);
    const columns = columnsOf(row);
    for (const name in columns) {
      if (isOwnColumn(name)) continue;
      const value = columns[name];
      if (value === undefined || value === '') continue;
      const ofStream = stream.fields.get(name);
      // A log attribute with the name of a stream field overrides it in the row; the label keeps the stream's value.
      if (ofStream !== undefined && (ofStream === value || !stream.labelFields.has(name))) continue;
      add(name, shownValue(value));
    }
    const metadata: ReadonlyMap<string, string> =
      ofLevel === undefined ? noMetadata : new Map(ofLevel.labels);
    return {
      labels: shown?.labels ?? [],
      isWhole: metadata.has(detectedLevelName),
      level: metadata.get(detectedLevelName) ?? storedLevel(stream.level, metadata),
      shown: undefined,
    };
  }

  #shownField(field: string, fromOtlp: boolean): ShownField {
    return {
      sanitized: this.#naming.sanitized(field, fromOtlp),
      names: this.#naming.metadataNames(field, fromOtlp),
    };
  }
}

/** The metadata of an entry by the names under which it is shown. */
class ShownValues {
  readonly labels: Label[] = [];
  /** The stored name of each value. */
  readonly #fields: string[] = [];
  readonly #fromOtlp: boolean;
  /** Positions by name, once there is a name that differs from the stored one. */
  #indexes: Map<string, number> | undefined;

  constructor(fromOtlp: boolean) {
    this.#fromOtlp = fromOtlp;
  }

  /** Adds a value. If several values of a push get the same name, the last renamed one counts. */
  add(name: string, value: string, field: string): void {
    if (name !== field && !this.#fromOtlp)
      this.#indexes ??= new Map(this.labels.map(([known], index) => [known, index]));
    const other = this.#indexes?.get(name);
    if (other !== undefined && !isLater(field, this.#fields[other] ?? '', name)) return;
    const index = other ?? this.labels.length;
    this.labels[index] = [name, value];
    this.#fields[index] = field;
    this.#indexes?.set(name, index);
  }
}

function isLater(field: string, other: string, name: string): boolean {
  return field !== name && (other === name || field > other);
}

/** A label set in which a level has its usual name. */
function setOf(labels: readonly Label[]): LabelSet {
  return LabelSet.from(
    labels.map((label) => {
      const [name, value] = label;
      return name === detectedLevelName ? [name, normalLevel(value) ?? value] : label;
    }),
  );
}

const noMetadata: ReadonlyMap<string, string> = new Map();

function lineFields(row: BackendRow, stream: StreamIdentity): readonly Label[] {
  return Object.entries(row).filter(
    ([name, value]) => value !== '' && !isOwnColumn(name) && !stream.fields.has(name),
  );
}

/** The fields of a row. */
interface Kept<Made> {
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** The value made from them; undefined until they occur again. */
  made: Made | undefined;
}

const maxKept = 4;
/** After this number of consecutive rows with unknown fields, the same number of rows is not compared. */
const missesBeforePause = 8;
const pausedRows = 250;

/**
 * Remembers the results for the fields of a stream's rows, since most rows have the same fields as another one shortly before. A result is
 * only kept when the fields occur for the second time. If every result was kept, V8 would allocate objects of this kind in old space,
 * including those of rows that nobody keeps.
 */
class RecentFields<Made> {
  readonly #kept: Kept<Made>[] = [];
  /** The fields of the row that was looked up last, if they were known. */
  #again: Kept<Made> | undefined;
  #misses = 0;
  #paused = 0;

  /** The result for another row with the same fields. */
  get(row: BackendRow): Made | undefined {
    if (this.#paused > 0) {
      this.#paused -= 1;
      return undefined;
    }
    const kept = this.#kept;
    this.#again = undefined;
    for (let index = 0; index < kept.length; index += 1) {
      const one = kept[index];
      if (one === undefined || !hasFields(row, one)) continue;
      this.#misses = 0;
      this.#again = one;
      return one.made;
    }
    this.#misses += 1;
    return undefined;
  }

  /** Stores the result for a row that `get` did not know, replacing the oldest one. */
  keep(row: BackendRow, made: Made): void {
    if (this.#paused > 0) return;
    if (this.#again !== undefined) {
      this.#again.made = made;
      return;
    }
    if (this.#misses >= missesBeforePause) {
      [this.#misses, this.#paused] = [0, pausedRows];
      return;
    }
    const [names, values]: [string[], string[]] = [[], []];
    const columns = columnsOf(row);
    for (const name in columns) {
      if (isOwnColumn(name)) continue;
      names.push(name);
      values.push(columns[name] ?? '');
    }
    if (this.#kept.length === maxKept) this.#kept.shift();
    this.#kept.push({ names, values, made: undefined });
  }
}

function hasFields(row: BackendRow, { names, values }: Kept<unknown>): boolean {
  let index = 0;
  const columns = columnsOf(row);
  for (const name in columns) {
    if (isOwnColumn(name)) continue;
    if (names[index] !== name || values[index] !== columns[name]) return false;
    index += 1;
  }
  return index === names.length;
}
