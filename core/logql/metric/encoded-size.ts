import { formatSampleValue, formatSeconds } from '../values/sample-text.js';
import type { Point } from './points.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import type { MetricResult } from './types.js';

/** Upper bound of one encoded point: seconds with milliseconds, and a double written without an exponent. */
const longestPoint = 400;
const pointOverhead = '[,""],'.length;
const seriesOverhead = '{"metric":,"values":[]},'.length;

/** Whether the JSON of a metric result is larger than `maxBytes`. */
export async function isEncodedOver(result: MetricResult, maxBytes: number, pacer: Pacer): Promise<boolean> {
  if (result.kind === 'scalar') return false;
  const series: readonly { readonly labels: LabelSet; readonly points: readonly Point[] }[] =
    result.kind === 'matrix'
      ? result.series
      : result.samples.map(({ labels, point }) => ({ labels, points: [point] }));
  let bytes = 0;
  let most = 0;
  await eachAtPace(series, pacer, ({ labels, points }) => {
    bytes += seriesOverhead + Buffer.byteLength(labels.json);
    most += points.length * longestPoint;
  });
  if (bytes + most <= maxBytes) return false;
  for (const { points } of series) {
    for (const point of points) bytes += bytesOf(point);
    if (bytes > maxBytes) return true;
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return false;
}

function bytesOf({ timestampMs, value }: Point): number {
  return pointOverhead + formatSeconds(timestampMs).length + formatSampleValue(value).length;
}
