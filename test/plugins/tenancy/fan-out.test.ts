import test from 'ava';
import type { Answer } from '../../../core/plugin/index.js';
import { fanOut, type FanOutOptions } from '../../../plugins/tenancy/fan-out.js';

const options: FanOutOptions = {
  merge: { direction: 'backward' },
  maxBytes: 0,
  signal: new AbortController().signal,
};
const names = (value: string): Answer => ({ kind: 'names', values: [value], warnings: [] });
const parts = Array.from({ length: 40 }, (_, index) => `t${index}`);
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('no more than 16 parts run at once, and all of them run', async (t) => {
  let running = 0;
  let most = 0;
  const merged = await fanOut(
    parts,
    async (part) => {
      running += 1;
      most = Math.max(most, running);
      await settle();
      running -= 1;
      return names(part);
    },
    options,
  );
  t.is(most, 16);
  t.deepEqual(merged, { kind: 'names', values: [...parts].sort(), warnings: [] });
});

test('after a failure no further part is started', async (t) => {
  const started: string[] = [];
  const failing = fanOut(
    parts,
    async (part) => {
      started.push(part);
      await settle();
      if (part === 't0') throw new Error('broken');
      await settle();
      return names(part);
    },
    options,
  );
  await t.throwsAsync(failing, { message: 'broken' });
  await settle();
  await settle();
  t.is(started.length, 16);
});

test('a request that has ended already starts nothing', async (t) => {
  const signal = AbortSignal.abort(new Error('gone'));
  await t.throwsAsync(
    fanOut(parts, () => t.fail(), { ...options, signal }),
    { message: 'gone' },
  );
});

test('no part gives no answer', async (t) => {
  t.is(await fanOut([], () => t.fail(), options), undefined);
});
