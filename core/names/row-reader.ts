import { LabelSet, type Label } from '../labels/label-set.js';
import type { BackendRow } from '../upstream/types.js';
import { repairDecimal } from './decimal.js';
import { detectLevel, detectedLevelName } from './level.js';
import { rebuildLine } from './missing-line.js';
import type { Naming } from './naming.js';
import { isFilledIn } from './otlp-fill.js';
import { parseRowTime } from './row-time.js';
import { identifyStream, type StreamIdentity } from './stream-identity.js';

/** A backend row as Loki would have stored it. */
export interface LogRow {
  readonly timestampNs: bigint;
  readonly line: string;
  readonly stream: StreamIdentity;
  readonly structuredMetadata: LabelSet;
  /** True when the backend has no line for the row, so that no filter of the backend has seen this one. */
  readonly isRebuilt: boolean;
}

const ownFields: ReadonlySet<string> = new Set(['_time', '_msg', '_stream', '_stream_id']);
const keptStreams = 20_000;

/** Turns backend rows into Loki's view of them; keeps the streams it has seen, so use one per pipeline. */
export class RowReader {
  readonly #naming: Naming;
  readonly #streams = new Map<string, StreamIdentity>();
  readonly #levelOnly = new Map<string, LabelSet>();

  constructor(naming: Naming) {
    this.#naming = naming;
  }

  /** The stream of a `_stream` text. */
  stream(text: string): StreamIdentity {
    const known = this.#streams.get(text);
    if (known !== undefined) return known;
    const stream = identifyStream(text, this.#naming);
    if (this.#streams.size >= keptStreams) this.#streams.clear();
    this.#streams.set(text, stream);
    return stream;
  }

  read(row: BackendRow): LogRow {
    const stream = this.stream(row['_stream'] ?? '{}');
    const msg = row['_msg'] ?? '';
    const isRebuilt = this.#naming.isMissingLine(msg);
    const fields = this.#metadataFields(row, stream);
    const line = isRebuilt ? rebuildLine(lineFields(row, stream)) : msg;
    return {
      timestampNs: parseRowTime(row['_time'] ?? ''),
      line,
      stream,
      structuredMetadata: this.#structuredMetadata(fields, stream, isRebuilt ? '' : line, row),
      isRebuilt,
    };
  }

  /** The fields that are structured metadata, under their stored names. */
  #metadataFields(row: BackendRow, stream: StreamIdentity): readonly Label[] {
    const fields: Label[] = [...stream.metadata];
    for (const name of Object.keys(row)) {
      if (ownFields.has(name)) continue;
      const value = row[name];
      if (value === undefined || value === '') continue;
      const ofStream = stream.fields.get(name);
      // A log attribute with the name of a stream field hides it in the row; the label keeps the stream's value.
      if (ofStream !== undefined && (ofStream === value || !stream.labelFields.has(name))) continue;
      fields.push([name, repairDecimal(value)]);
    }
    return fields;
  }

  #structuredMetadata(
    fields: readonly Label[],
    stream: StreamIdentity,
    line: string,
    row: BackendRow,
  ): LabelSet {
    const scans = this.#naming.scansBodies;
    if (fields.length === 0) {
      return this.#only(detectLevel({ ofLabels: stream.level, metadata: noMetadata, line }, scans));
    }
    const fromOtlp = stream.looksLikeOtlp && row['severity_number'] !== undefined;
    const sanitized = new Map<string, string>();
    const shown: Label[] = [];
    for (const [field, value] of fields) {
      if (fromOtlp && isFilledIn(field, value, row)) continue;
      sanitized.set(this.#naming.sanitized(field, fromOtlp), value);
      for (const name of this.#naming.metadataNames(field, fromOtlp)) {
        shown.push([stream.labelNames.has(name) ? `${name}_extracted` : name, value]);
      }
    }
    const stored = sanitized.get(detectedLevelName);
    if (stored === undefined || stored === '') {
      shown.push([
        detectedLevelName,
        detectLevel({ ofLabels: stream.level, metadata: sanitized, line }, scans),
      ]);
    }
    return LabelSet.from(shown);
  }

  #only(level: string): LabelSet {
    let labels = this.#levelOnly.get(level);
    if (labels === undefined) {
      labels = LabelSet.from([[detectedLevelName, level]]);
      if (this.#levelOnly.size < 1000) this.#levelOnly.set(level, labels);
    }
    return labels;
  }
}

const noMetadata: ReadonlyMap<string, string> = new Map();

function lineFields(row: BackendRow, stream: StreamIdentity): readonly Label[] {
  return Object.entries(row).filter(
    ([name, value]) => value !== '' && !ownFields.has(name) && !stream.fields.has(name),
  );
}
