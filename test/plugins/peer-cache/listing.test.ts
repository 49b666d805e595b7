import test from 'ava';
import { matcher, or, query, streamMatch } from '../../../core/victoria/logsql/build.js';
import { readingOf, split, listOver, type Listing } from '../../../plugins/peer-cache/listing.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TimeRange } from '../../../core/base/time/range.js';
import { makeExchange, makeTenant } from '../../../core/testing/index.js';

const minuteNs = 60_000_000_000n;
const nowNs = 1_000_000n * minuteNs;

/** A fake listing: each part returns its name and a shared value, after a delay that the test sets. */
function listingOf(msOf: (part: number) => number): Listing {
  let parts = 0;
  const say = async (name: string): Promise<readonly string[]> => {
    const part = (parts += 1);
    await sleep(msOf(part));
    return ['shared', name];
  };
  const nameOf = ({ startNs, endNs }: TimeRange): string => `${startNs}-${endNs}`;
  const leftMs = 1_000;
  return {
    exchange: makeExchange<'tenant'>({ slots: { tenant: makeTenant('a') } }),
    bucket: async (range) => ({ values: await say(`bucket ${nameOf(range)}`), leftMs }),
    edge: (range) => say(`edge ${nameOf(range)}`),
    joined: async () => ({ values: await say('joined'), leftMs }),
  };
}

test('the order of a listing does not depend on which of its parts comes first', async (t) => {
  const range = { startNs: nowNs - 7_205n * minuteNs - 1n, endNs: nowNs - 3n * minuteNs + 7n };
  const divided = split(range, nowNs);
  if (divided === undefined) throw new Error('this range is divided');
  const inOrder = await listOver(
    listingOf((part) => 5 * part),
    range,
    divided,
    4,
  );
  const reversed = await listOver(
    listingOf((part) => 50 - 10 * part),
    range,
    divided,
    4,
  );
  t.true(inOrder.length > 4, inOrder.join());
  t.deepEqual(reversed, inOrder);
});

test('long selections are left to the backend, and others are read from the list of all streams', (t) => {
  const reading = (count: number) =>
    readingOf({
      listing: 'streams',
      query: query(
        or(...Array.from({ length: count }, (_none, at) => streamMatch(matcher('a', '=~', `x${at}|y.+`)))),
      ),
    });
  t.deepEqual(reading(100)?.('{a="x99"}'), ['{a="x99"}']);
  t.deepEqual(reading(100)?.('{a="x100"}'), []);
  t.is(reading(101), undefined);
});
