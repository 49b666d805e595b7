import test from 'ava';
import { everything, query } from '../../../../../core/victoria/logsql/build.js';
import type { Upstream } from '../../../../../core/plugin/index.js';
import { FakeUpstream } from '../../../../../core/testing/index.js';
import { earlyUpstream } from '../../../../../core/engine/listings/upstreams.js';

const asked = { query: query(everything), range: { startNs: 0n, endNs: 1n } };
const values = [{ value: 'a', hits: 1 }];
const batches = [[{ _msg: 'x' }]];

/** A backend whose calls can be cancelled, and the signals that cancel them. */
function backend(): { readonly upstream: Upstream; readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const script = new FakeUpstream([
    { call: 'list', values },
    { call: 'rows', batches },
  ]);
  const until = (signal: AbortSignal): Upstream => {
    signals.push(signal);
    return script;
  };
  return { upstream: Object.assign(new FakeUpstream([]), { until }), signals };
}

test('calls begin at once, and nobody sees their answers before the question is confirmed', async (t) => {
  const { upstream, signals } = backend();
  const early = earlyUpstream(upstream);
  if (early === undefined) return t.fail();
  const seen: string[] = [];
  const list = early.upstream.list({ ...asked, listing: 'streams' }).then((found) => {
    seen.push('list');
    return found;
  });
  const rows = (async () => {
    const all = [];
    for await (const batch of early.upstream.rows(asked)) all.push(...batch);
    seen.push('rows');
    return all;
  })();
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(seen, []);
  early.confirm();
  t.deepEqual(await list, values);
  t.deepEqual(await rows, batches.flat());
  t.false(signals[0]?.aborted ?? true);
});

test('a question that was wrong is given up: its calls end, and their answers are errors', async (t) => {
  const { upstream, signals } = backend();
  const early = earlyUpstream(upstream);
  if (early === undefined) return t.fail();
  const list = early.upstream.list({ ...asked, listing: 'streams' });
  early.giveUp();
  await t.throwsAsync(list, { message: /cancelled: the speculative call was not needed/ });
  t.true(signals[0]?.aborted);
});

test('where calls cannot be given up one by one nothing is asked early', (t) => {
  t.is(earlyUpstream(new FakeUpstream([])), undefined);
});
