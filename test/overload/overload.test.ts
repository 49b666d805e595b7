import test from 'ava';
import { Random } from '../watch/random.js';
import { choose, mix } from './mix.js';
import { aims, table, type Findings } from './report.js';
import { quantile, Sample } from './sample.js';

function sampleOf(admitted: readonly number[], refused: readonly number[] = []): Sample {
  const sample = new Sample();
  for (const ms of admitted) sample.answered(200, ms);
  for (const ms of refused) sample.answered(503, ms);
  return sample;
}

const good: Findings = {
  capacity: 100,
  asked: 200,
  unloaded: sampleOf([10, 20, 30]),
  flood: sampleOf([20, 40, 60], [1, 2, 49]),
  other: sampleOf([10, 90]),
  loopDelayMs: 25,
};

const missed = (findings: Findings): readonly string[] =>
  aims(findings)
    .filter(({ isMet }) => !isMet)
    .map(({ name }) => name);

test.serial('what keeps to every aim misses none', (t) => {
  t.deepEqual(missed(good), []);
  t.notRegex(table(good), /MISSED/);
});

test.serial('each aim is missed by what does not keep to it', (t) => {
  t.deepEqual(missed({ ...good, flood: sampleOf([61], [1]) }), ['admitted, p99']);
  t.deepEqual(missed({ ...good, flood: sampleOf([60], [51]) }), ['refused, p99']);
  t.deepEqual(missed({ ...good, other: sampleOf([101]) }), ['small requests of another tenant, p95']);
  t.deepEqual(missed({ ...good, other: sampleOf([1], [1]) }), ['small requests of another tenant, refused']);
  const odd = sampleOf([20], [1]);
  odd.answered(500, 1);
  t.deepEqual(missed({ ...good, flood: odd }), ['answers but 200, 429 and 503']);
});

test.serial('a flood of which nothing was answered keeps to nothing', (t) => {
  const nothing = new Sample();
  t.true(missed({ ...good, flood: nothing, other: nothing }).length >= 3);
});

test.serial('quantiles are of the nearest rank', (t) => {
  t.is(quantile([3, 1, 2], 0.5), 2);
  t.is(quantile([3, 1, 2], 0.99), 3);
  t.is(quantile([], 0.5), NaN);
});

test.serial('a mix asks in the same order for the same seed, and in its shares', (t) => {
  const draw = (seed: number): readonly string[] => {
    const random = new Random(seed);
    return Array.from({ length: 4_000 }, () => choose(mix, random).path(random, 1_800_000_000_000));
  };
  t.deepEqual(draw(1), draw(1));
  t.true(new Set(draw(1)).size > 3_990);
  t.is(Math.round(mix.reduce((sum, { share }) => sum + share, 0) * 1000), 1000);
});
