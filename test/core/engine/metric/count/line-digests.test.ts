import test from 'ava';
import { and, exact } from '../../../../../core/victoria/logsql/build.js';
import type { Upstream } from '../../../../../core/plugin/index.js';
import type { BackendRow } from '../../../../../core/victoria/upstream/types.js';
import { decline, isDeclined } from '../../../../../core/engine/metric/cost.js';
import {
  labelsQuestion,
  shorteningQuestion,
  labelsOf,
} from '../../../../../core/engine/metric/count/labels/questions.js';
import { missingMessage } from '../../../../compare/data/rows.js';
import { naming } from '../metric-store.js';
import { LineDigests, LineSamples } from '../../../../../core/engine/metric/count/line-digests.js';
import { levelQuestion } from '../../../../../core/engine/metric/count/level-digest.js';

const range = { startNs: 0n, endNs: 80_000_000_000n };

interface Counting {
  readonly upstream: Upstream;
  readonly samples: LineSamples;
  readonly asked: () => number;
}

/** A request to a fake backend that counts its calls. */
function counting(line: string): Counting {
  let asked = 0;
  const rows = async function* (): AsyncGenerator<readonly BackendRow[]> {
    asked += 1;
    yield await Promise.resolve([{ _msg: line }]);
  };
  // Nothing else of the upstream is used.
  return { upstream: { rows } as unknown as Upstream, samples: new LineSamples(), asked: () => asked };
}

test('what stands in the place of a line is no line of a sample', async (t) => {
  const lines = [missingMessage, '', 'a line'];
  const rows = async function* (): AsyncGenerator<readonly BackendRow[]> {
    yield await Promise.resolve(lines.map((_msg) => ({ _msg })));
  };
  const upstream = { rows } as unknown as Upstream;
  t.deepEqual(await new LineSamples().of({ upstream, naming, selection: and(), range, rows: 3 }, 9), [
    { stream: '{}', line: 'a line' },
  ]);
});

test('the questions of one request look at the same lines, which are read once', async (t) => {
  const shapes = new LineDigests({ get: () => undefined, set: () => undefined });
  const seen: (readonly string[])[] = [];
  const ask = (
    { upstream, samples }: Counting,
    key: string,
    { selection = and(), rows = 100 } = {},
  ): Promise<unknown> =>
    shapes.of(
      {
        key,
        *digestFor(lines) {
          yield;
          seen.push(lines);
          return decline('lines-differ');
        },
      },
      { upstream, naming, samples, selection, range, rows, signal: new AbortController().signal },
    );
  const one = counting('a line');
  await ask(one, 'first');
  const once = one.asked();
  t.true(once > 0);
  await ask(one, 'second');
  t.is(one.asked(), once);
  t.deepEqual(seen[0], seen[1]);
  await ask(one, 'first', { selection: exact('app', 'other') });
  t.is(one.asked(), 2 * once);
  // Another request may come from another tenant, and lines are added meanwhile.
  const other = counting('another line');
  await ask(other, 'first');
  t.is(other.asked(), once);
  t.deepEqual(new Set(seen[3]), new Set(['another line']));
  // Large samples are not kept.
  const large = counting('x'.repeat((4 << 20) + 1));
  await ask(large, 'first');
  await ask(large, 'second');
  t.is(large.asked(), 2 * once);
  // If a few lines are not conclusive, more are read; for more than a million rows the first read already takes the maximum.
  for (const [rows, reads] of [
    [1_000_000, 2],
    [1_000_001, 1],
  ] as const) {
    const many = counting('a line');
    await ask(many, 'first', { rows });
    t.is(many.asked(), reads);
  }
});

const parts = [
  { kind: 'literal', text: '{' },
  { kind: 'capture', name: 'status' },
  { kind: 'literal', text: ',' },
] as const;
const parsers = [{ from: 'json-keys' }, { from: 'pair-keys' }, { from: 'captures', parts }] as const;
const questions = parsers
  .map((parser) => labelsOf({ parser }))
  .flatMap((labels) => [
    labelsQuestion(labels, ['status'], new Map()),
    shorteningQuestion(labels, ['status']),
  ]);

for (const question of [levelQuestion, ...questions])
  test(`the lines of a sample are looked at one by one: ${isDeclined(question) ? '' : question.key}`, (t) => {
    if (isDeclined(question)) return t.fail();
    const lines = Array.from({ length: 1_000 }, (_none, index) => `{"status":${index % 3},"level":"info"}`);
    const steps = question.digestFor(lines);
    let pauses = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pauses += 1;
    t.true(pauses >= lines.length);
    t.false(isDeclined(step.value));
  });
