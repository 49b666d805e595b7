import { LabelSet } from '../../../../core/base/label-set.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { compilePipeline, type Pipeline, withoutUnread } from '../../../../core/logql/pipeline/output.js';
import { compileExtractor, pushedGrouping } from '../../../../core/logql/pipeline/extractor.js';
import type { PipelineEntry, SampleExtractor } from '../../../../core/logql/pipeline/types.js';

export const stream = LabelSet.from([['app', 'shop']]);

/** An entry of the stream `{app="shop"}`. */
export function entryOf(line: string, metadata: Readonly<Record<string, string>> = {}): PipelineEntry {
  const structuredMetadata = LabelSet.from(Object.entries(metadata));
  return { stream, structuredMetadata, timestampNs: 1_700_000_000_000_000_000n, line };
}

/** The compiled stages after the selector of a log query. */
export function pipelineOf(stages: string): Pipeline {
  const expr = parseQuery(`{app="shop"} ${stages}`);
  if (expr.kind !== 'log') throw new Error('not a log query');
  return compilePipeline(expr.stages);
}

/** A compiled range aggregation, or a vector aggregation around one. */
export function extractorOf(query: string): SampleExtractor {
  const expr = parseQuery(query);
  if (expr.kind === 'range-aggregation') return compileExtractor(withoutUnread(expr));
  if (expr.kind !== 'vector-aggregation' || expr.expr.kind !== 'range-aggregation')
    throw new Error('not a range aggregation');
  const pushed = pushedGrouping(expr);
  return compileExtractor(withoutUnread(expr.expr, pushed), pushed);
}

/** The parsed labels of a line after the stages; undefined if they drop the line. */
export function parsedLabels(
  pipeline: Pipeline,
  line: string,
  metadata: Readonly<Record<string, string>> = {},
): Record<string, string> | undefined {
  const result = pipeline(entryOf(line, metadata));
  return result === undefined ? undefined : objectOf(result.parsed);
}

export function objectOf(labels: LabelSet): Record<string, string> {
  return Object.fromEntries(labels.labels);
}
