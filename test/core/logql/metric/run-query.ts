import { LabelSet, labelsText } from '../../../../core/base/label-set.js';
import { parseQuery, type MetricExpr } from '../../../../core/logql/index.js';
import {
  defaultMetricLimits,
  entryLeafSource,
  evaluateMetric,
  type Grid,
  type MetricLimits,
  type MetricResult,
} from '../../../../core/logql/metric/index.js';
import type { PipelineEntry } from '../../../../core/logql/pipeline/types.js';
import { sourceOf } from './dataset.js';
import { noWorkers } from '../lines-here.js';

/** An entry as its time in seconds, its line, and its labels. */
export type ShortEntry = readonly [seconds: number, line: string, labels?: Readonly<Record<string, string>>];

/** Times in seconds. */
export function range(start: number, end: number, step: number): Grid {
  return { kind: 'range', startMs: start * 1000, endMs: end * 1000, stepMs: step * 1000 };
}

export function instant(seconds: number): Grid {
  return { kind: 'instant', timeNs: BigInt(seconds * 1000) * 1_000_000n };
}

export function metricExpr(query: string): MetricExpr {
  const expr = parseQuery(query);
  if (expr.kind === 'log') throw new Error(`not a metric query: ${query}`);
  return expr;
}

/** Streams with `{app="a"}` and further labels. */
export function streamsOf(entries: readonly ShortEntry[]): readonly (readonly PipelineEntry[])[] {
  const streams = new Map<string, PipelineEntry[]>();
  for (const [seconds, line, labels] of entries) {
    const stream = LabelSet.from(Object.entries({ app: 'a', ...labels }));
    const list = streams.get(stream.key) ?? [];
    streams.set(stream.key, list);
    const timestampNs = BigInt(Math.round(seconds * 1e6)) * 1000n;
    list.push({ stream, structuredMetadata: LabelSet.empty, timestampNs, line });
  }
  return [...streams.values()];
}

/** Evaluates a query over entries. */
export function evaluate(
  query: string,
  entries: readonly ShortEntry[],
  grid: Grid,
  limits: Partial<MetricLimits> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<MetricResult> {
  const source = entryLeafSource(sourceOf(streamsOf(entries)), noWorkers);
  return evaluateMetric(metricExpr(query), grid, source, { ...defaultMetricLimits, ...limits }, signal);
}

/** The samples of the result by series and second. */
export async function samplesOf(
  query: string,
  entries: readonly ShortEntry[],
  grid: Grid,
): Promise<Readonly<Record<string, Readonly<Record<string, number>>>>> {
  const result = await evaluate(query, entries, grid);
  switch (result.kind) {
    case 'scalar':
      return { scalar: { [result.point.timestampMs / 1000]: result.point.value } };
    case 'vector':
      return Object.fromEntries(
        result.samples.map(({ labels, point }) => [
          labelsText(labels),
          { [point.timestampMs / 1000]: point.value },
        ]),
      );
    case 'matrix':
      return Object.fromEntries(
        result.series.map(({ labels, points }) => [
          labelsText(labels),
          Object.fromEntries(points.map(({ timestampMs, value }) => [timestampMs / 1000, value])),
        ]),
      );
  }
}

/** The values at one time by the value of a label, in the order of the result. */
export async function valuesBy(
  label: string,
  query: string,
  entries: readonly ShortEntry[],
  seconds = 10,
): Promise<readonly (readonly [string, number])[]> {
  const result = await evaluate(query, entries, instant(seconds));
  if (result.kind !== 'vector') throw new Error(`not a vector: ${result.kind}`);
  return result.samples.map(({ labels, point }) => [labels.get(label), point.value]);
}
