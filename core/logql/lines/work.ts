import { type Label, LabelSet } from '../../base/label-set.js';
import type { RangeAggregation, Stage } from '../ast.js';
import type { KeyPath, PathsByLabel } from '../pipeline/key-table.js';
import type { ExtractedSample, PipelineEntry, PipelineLine, SampleGroups } from '../pipeline/types.js';
import type { Fault } from '../../base/errors/fault.js';

/** The stages to evaluate, as plain data, so that a worker can compile them itself. */
export type LineWork =
  | { readonly kind: 'pipeline'; readonly stages: readonly Stage[] }
  | { readonly kind: 'key-paths' }
  | {
      readonly kind: 'sample';
      readonly range: RangeAggregation;
      readonly pushed: SampleGroups | undefined;
    };

/** An entry sent to a worker. */
export interface SentEntry {
  readonly stream: readonly Label[];
  readonly structuredMetadata: readonly Label[];
  readonly timestampNs: bigint;
  readonly line: string;
}

/** The result of a pipeline; undefined parts are unchanged from the entry. */
export interface SentLine {
  readonly line: string | undefined;
  readonly stream: readonly Label[] | undefined;
  readonly structuredMetadata: readonly Label[] | undefined;
  readonly parsed: readonly Label[];
  readonly formatted: number;
}

export interface SentSample {
  readonly value: number;
  readonly labels: readonly Label[];
  readonly error: string | undefined;
}

/** Paths by label, as a few long lists: tens of thousands of small lists would be slow to receive. */
export interface SentPaths {
  readonly labels: readonly string[];
  /** The keys of all paths, one path after the other. */
  readonly keys: readonly string[];
  /** For each label, the end of its path in `keys`. */
  readonly ends: Uint32Array;
}

export function sendPaths(paths: ReadonlyMap<string, KeyPath>): SentPaths {
  const keys: string[] = [];
  const ends = new Uint32Array(paths.size);
  let at = 0;
  for (const path of paths.values()) {
    keys.push(...path);
    ends[at] = keys.length;
    at += 1;
  }
  return { labels: [...paths.keys()], keys, ends };
}

export function receivePaths({ labels, keys, ends }: SentPaths): PathsByLabel {
  const places = new Map(labels.map((label, index) => [label, index]));
  return {
    get: (label) => {
      const place = places.get(label);
      return place === undefined ? undefined : keys.slice(ends[place - 1] ?? 0, ends[place]);
    },
  };
}

export function sendEntry({ stream, structuredMetadata, timestampNs, line }: PipelineEntry): SentEntry {
  return { stream: stream.labels, structuredMetadata: structuredMetadata.labels, timestampNs, line };
}

export function receiveEntry(sent: SentEntry): PipelineEntry {
  const { timestampNs, line } = sent;
  const stream = LabelSet.fromSorted(sent.stream);
  return { stream, structuredMetadata: LabelSet.fromSorted(sent.structuredMetadata), timestampNs, line };
}

export function sendLine(made: PipelineLine, entry: PipelineEntry): SentLine {
  const { line, stream, structuredMetadata, parsed, formatted } = made;
  return {
    line: line === entry.line ? undefined : line,
    stream: stream === entry.stream ? undefined : stream.labels,
    structuredMetadata:
      structuredMetadata === entry.structuredMetadata ? undefined : structuredMetadata.labels,
    parsed: parsed.labels,
    formatted,
  };
}

export function receiveLine(sent: SentLine, entry: PipelineEntry): PipelineLine {
  const { line, stream, structuredMetadata, parsed, formatted } = sent;
  return {
    line: line ?? entry.line,
    stream: stream === undefined ? entry.stream : LabelSet.fromSorted(stream),
    structuredMetadata:
      structuredMetadata === undefined ? entry.structuredMetadata : LabelSet.fromSorted(structuredMetadata),
    parsed: LabelSet.fromSorted(parsed),
    formatted,
  };
}

export function sendSample({ value, labels, error }: ExtractedSample): SentSample {
  return { value, labels: labels.labels, error };
}

export function receiveSample({ value, labels, error }: SentSample): ExtractedSample {
  return { value, labels: LabelSet.fromSorted(labels), error };
}

/** One line for a worker. */
export interface WorkerRequest {
  /** Identifies the work. */
  readonly key: number;
  /** The work, if this worker does not have it yet. */
  readonly work: LineWork | undefined;
  /** Drops all work received so far. */
  readonly forgets: boolean;
  readonly entry: SentEntry;
}

/** A worker's result. */
export type WorkerResult = { readonly result: unknown } | { readonly fault: Fault };
