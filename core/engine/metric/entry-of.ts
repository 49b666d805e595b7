import type { PipelineEntry } from '../../logql/pipeline/types.js';
import type { LogRow } from '../../victoria/names/row-reader.js';

/** Converts a row to the input of a pipeline. */
export function entryOf({ stream, structuredMetadata, timestampNs, line }: LogRow): PipelineEntry {
  return { stream: stream.labels, structuredMetadata, timestampNs, line };
}
