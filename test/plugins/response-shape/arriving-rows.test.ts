import test from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy } from '../../../core/testing/index.js';
import { Relay } from '../../audit/relay.js';
import { pushLoki } from '../embedded-backend/harness.js';
import { pipeline } from './facts.js';

const secondNs = 1_000_000_000n;
const minuteNs = 60n * secondNs;
const betweenNs = 10n * secondNs;
const rowsInStep = 6;
const steps = 51;

test('a row pushed twice is counted once even if another one arrives while rows are looked at', async (t) => {
  const backend = await startDevBackend();
  const relay = await Relay.open(backend.url);
  t.teardown(async () => {
    relay.close();
    await backend.close();
  });
  const borderNs = ((BigInt(Date.now()) * 1_000_000n) / (5n * minuteNs)) * (5n * minuteNs);
  const push = async (...times: readonly bigint[]): Promise<void> => {
    await pushLoki(
      backend.url,
      { app: 'a' },
      times.map((time): [bigint, string] => [time, `line ${time}`]),
    );
  };
  const times = Array.from({ length: 400 }, (_none, index) => borderNs - BigInt(index) * betweenNs);
  await push(...times);
  // The last minute is not a whole segment, so it is read each time.
  const params = new URLSearchParams({
    query: 'sum(count_over_time({app="a"}[1m]))',
    start: String(borderNs - 50n * minuteNs),
    end: String(borderNs + minuteNs),
    step: '60',
  });
  await withProxy(pipeline(relay.url), async ({ url }) => {
    /** All steps except the last one, in which the row arrives. */
    const ask = async (): Promise<readonly number[]> => {
      const answer = await fetch(`${url}/loki/api/v1/query_range?${params.toString()}`);
      t.is(answer.status, 200);
      const { data } = (await answer.json()) as {
        readonly data: { readonly result: readonly { readonly values: readonly [number, string][] }[] };
      };
      return (data.result[0]?.values ?? []).slice(0, steps).map(([, value]) => Number(value));
    };
    const right = Array.from({ length: steps }, () => rowsInStep);
    t.deepEqual(await ask(), right);
    let looks = 0;
    relay.meddle = ({ args }) => {
      if (args.get('query')?.includes('count_uniq_hash') !== true) return undefined;
      looks += 1;
      return looks > 1 ? undefined : { first: () => push(borderNs + secondNs) };
    };
    await push(borderNs - 25n * minuteNs);
    t.deepEqual(await ask(), right);
    t.true(looks > 0);
  });
});
