import test from 'ava';
import {
  isIn,
  partLengthOf,
  segmentsAround,
  segmentsOf,
  segmentsUntil,
  type TimeSegment,
  wholeSegments,
} from '../../../../../core/engine/metric/count/time-segments.js';
import type { TimeRange } from '../../../../../core/base/time/range.js';

const minuteNs = 60_000_000_000n;
/** Segments start one nanosecond after a multiple of their length. */
const at = (minutes: number): bigint => BigInt(minutes) * minuteNs + 1n;
const range = (from: number, to: number): TimeRange => ({ startNs: at(from), endNs: at(to) });
/** Start and end of each segment in minutes, with `!` if it is not whole. */
const shown = (segments: readonly TimeSegment[]): string =>
  segments
    .map(({ startNs, endNs, isWhole }) => {
      const minutes = [startNs, endNs].map((ns) => String(Number(ns - 1n) / Number(minuteNs)));
      return `${minutes.join('-')}${isWhole ? '' : '!'}`;
    })
    .join(' ');

test('a range includes its start and not its end', (t) => {
  t.deepEqual(
    [0n, 1n, 2n, 3n].map((ns) => isIn({ startNs: 1n, endNs: 3n }, ns)),
    [false, true, true, false],
  );
});

test('a segment of a standard length but the shortest has parts of the length before', (t) => {
  t.is(partLengthOf(range(0, 5)), undefined);
  t.is(partLengthOf(range(0, 15)), 5n * minuteNs);
  t.is(partLengthOf(range(60, 120)), 15n * minuteNs);
  t.is(partLengthOf(range(0, 10_080)), 1440n * minuteNs);
  t.is(partLengthOf(range(0, 16)), undefined);
});

test('a range is widened to the whole segments around it, unless it is shorter than any', (t) => {
  t.deepEqual(wholeSegments(range(7, 21)), range(5, 25));
  t.deepEqual(wholeSegments(range(5, 10)), range(5, 10));
  t.deepEqual(wholeSegments(range(6, 11)), range(5, 15));
  t.deepEqual(wholeSegments(range(6, 10)), range(6, 10));
  t.deepEqual(wholeSegments({ startNs: at(5) - 1n, endNs: at(20) }), range(0, 20));
  t.deepEqual(wholeSegments({ startNs: at(5), endNs: at(20) + 1n }), range(5, 25));
  t.deepEqual(wholeSegments({ startNs: 0n, endNs: at(5) }), { startNs: 0n, endNs: at(5) });
});

test('a range is split into hours, or into longer segments if it has more than 25 hours, and into shorter ones at its ends', (t) => {
  t.is(shown(segmentsOf(range(0, 15))), '0-15');
  t.is(shown(segmentsOf(range(5, 15))), '5-10 10-15');
  t.is(shown(segmentsOf(range(3, 17))), '3-5! 5-10 10-15 15-17!');
  t.is(shown(segmentsOf(range(5, 75))), '5-10 10-15 15-30 30-45 45-60 60-75');
  t.is(shown(segmentsOf(range(50, 260))), '50-55 55-60 60-120 120-180 180-240 240-255 255-260');
  t.is(segmentsOf(range(0, 25 * 60)).length, 25);
  t.is(
    shown(segmentsOf(range(180, 180 + 26 * 60))),
    '180-240 240-480 480-720 720-960 960-1200 1200-1440 1440-1680 1680-1740',
  );
  const year = 52 * 10_080;
  t.is(shown(segmentsOf(range(year + 5, year + 15))), `${year + 5}-${year + 10} ${year + 10}-${year + 15}`);
  t.is(segmentsOf(range(0, 25 * 10_080)).length, 25);
  t.is(shown(segmentsOf(range(0, 26 * 10_080))), `0-${26 * 10_080}!`);
  t.deepEqual(segmentsOf(range(5, 5)), []);
});

test('the segments around a range are those of the standard lengths that contain all of it', (t) => {
  t.is(shown(segmentsAround(range(20, 25))), '20-25 15-30 0-60 0-240 0-1440 0-10080');
  t.is(shown(segmentsAround(range(55, 65))), '0-240 0-1440 0-10080');
  t.is(shown(segmentsAround(range(10_079, 10_081))), '');
});

test('the segment that rows are still added to is not whole', (t) => {
  t.is(shown(segmentsUntil(range(0, 15), at(12))), '0-5 5-10 10-15!');
  t.is(shown(segmentsUntil(range(0, 15), at(20))), '0-15');
  t.is(shown(segmentsUntil(range(0, 15), at(15) - 1n)), '0-5 5-10 10-15!');
  t.is(shown(segmentsUntil(range(0, 15), at(15))), '0-15');
  t.is(shown(segmentsUntil(range(10, 15), at(12))), '10-15!');
  t.is(shown(segmentsUntil(range(12, 14), at(13))), '12-14!');
  t.is(shown(segmentsUntil(range(12, 16), at(13))), '12-16!');
  t.is(shown(segmentsUntil(range(5, 25), at(12))), '5-10 10-25!');
});
