import type { LabelSet } from '../../labels/label-set.js';

/** A log line on its way through the stages of a query; the three groups of labels stay apart for categorized answers. */
export interface PipelineLine {
  readonly timestampNs: bigint;
  readonly line: string;
  /** Index labels of the stream. */
  readonly stream: LabelSet;
  readonly structuredMetadata: LabelSet;
  readonly parsed: LabelSet;
}

/** One stage, ready to run: gives the line on, changed or not, or drops it. */
export type CompiledStage = (line: PipelineLine) => PipelineLine | undefined;

/** The value of a label as a stage sees it, the empty text when there is none: parsed labels hide metadata, which hides the stream's. */
export function labelValue(line: PipelineLine, name: string): string {
  if (line.parsed.has(name)) return line.parsed.get(name);
  if (line.structuredMetadata.has(name)) return line.structuredMetadata.get(name);
  return line.stream.get(name);
}
