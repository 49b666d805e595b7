import test from 'ava';
import { startDevBackend } from '../../../../core/embedded/index.js';
import { withProxyFile } from '../../../../core/testing/index.js';
import { pushLoki } from '../../embedded/harness.js';

const second = 1_000_000_000n;
const hour = 3600n * second;
const day = 24n * hour;
const now = BigInt(Date.now()) * 1_000_000n;
const today = now - (now % day);

/** Lists names, values and detected labels of a range. */
type List = (startNs: bigint, endNs: bigint) => Promise<Record<string, readonly string[]>>;

/** Over a stream in the morning and one in the evening of each of two days, and over two streams ahead, so that midnight is no matter. */
async function overTwoDays(use: (list: List) => Promise<void>): Promise<void> {
  const backend = await startDevBackend();
  try {
    for (const daysAgo of [3n, 2n]) {
      const start = today - daysAgo * day;
      const name = `d${daysAgo}`;
      await pushLoki(backend.url, { [`${name}_am`]: 'x', part: `${name}-am` }, [
        [start + 2n * hour, 'line', {}],
      ]);
      await pushLoki(backend.url, { [`${name}_pm`]: 'x', part: `${name}-pm` }, [
        [start + 20n * hour, 'line', {}],
      ]);
    }
    await pushLoki(backend.url, { part: 'soon' }, [[now + hour / 2n, 'line', {}]]);
    await pushLoki(backend.url, { part: 'later' }, [[now + hour, 'line', {}]]);
    const flags = { backend: backend.url };
    await withProxyFile('pipelines/reference-compatible.yaml', ({ url }) => use(listOf(url)), { flags });
  } finally {
    await backend.close();
  }
}

function listOf(url: string): List {
  return async (startNs, endNs) => {
    const range = `start=${startNs}&end=${endNs}`;
    const get = async (path: string): Promise<unknown> =>
      (await fetch(`${url}/loki/api/v1/${path}?${range}`)).json();
    const [names, values, detected] = await Promise.all([
      get('labels') as Promise<{ data?: string[] }>,
      get('label/part/values') as Promise<{ data?: string[] }>,
      get('detected_labels') as Promise<{ detectedLabels?: { label: string }[] }>,
    ]);
    return {
      names: names.data ?? [],
      values: values.data ?? [],
      detected: (detected.detectedLabels ?? []).map(({ label }) => label).sort(),
    };
  };
}

test('labels of a part of a past day are those of the whole day in UTC', (t) =>
  overTwoDays(async (list) => {
    const start = today - 3n * day;
    const names = ['d3_am', 'd3_pm', 'part', 'service_name'];
    const whole = { names, values: ['d3-am', 'd3-pm'], detected: names };
    t.deepEqual(await list(start + hour, start + 3n * hour), whole);
    t.deepEqual(await list(start + 19n * hour, start + 21n * hour), whole);
    const both = await list(start + 19n * hour, start + 27n * hour);
    t.deepEqual(both['values'], ['d2-am', 'd2-pm', 'd3-am', 'd3-pm']);
  }));

test('a range without entries in a past day has no labels', (t) =>
  overTwoDays(async (list) => {
    const start = today - 3n * day;
    t.deepEqual(await list(start + 3n * hour, start + 4n * hour), { names: [], values: [], detected: [] });
  }));

test('labels of a day that is not over are those of the range', (t) =>
  overTwoDays(async (list) => {
    t.deepEqual((await list(now, now + (3n * hour) / 4n))['values'], ['soon']);
  }));
