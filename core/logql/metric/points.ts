import type { LabelSet } from '../../base/labels/label-set.js';

/** One point of a series: milliseconds since the epoch, and the value. */
export interface Point {
  readonly timestampMs: number;
  readonly value: number;
}

export interface SeriesResult {
  readonly labels: LabelSet;
  readonly points: readonly Point[];
}

export interface SampleResult {
  readonly labels: LabelSet;
  readonly point: Point;
}
