import test, { type ExecutionContext } from 'ava';
import {
  startDevBackend,
  type DevBackend,
  type FaultRule,
} from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';
import { metricIs } from '../guard/metric-is.js';

/** Client-visible behavior of windows when the backend is slow, hangs or fails for some of them. */

const hourNs = 3_600_000_000_000n;
/** Windows that end by this time no longer change. */
const nowNs = ((BigInt(Date.now()) * 1_000_000n) / hourNs - 1n) * hourNs;

interface Got {
  readonly status: number;
  readonly text: string;
}

interface House {
  readonly backend: DevBackend;
  readonly url: string;
  readonly faults: (...rules: readonly FaultRule[]) => Promise<void>;
  /** A range query over the hours before now. */
  readonly ask: (query: string, hours: number, more?: Readonly<Record<string, string>>) => Promise<Got>;
  readonly metric: (name: string) => Promise<number>;
}

/** The default pipeline over 48 hours of two streams, with two lines in the middle of each hour. */
async function withHouse(
  flags: Readonly<Record<string, string>>,
  use: (house: House) => Promise<void>,
): Promise<void> {
  const backend = await startDevBackend({ faults: true });
  try {
    for (const app of ['old', 'busy'])
      await pushLoki(
        backend.url,
        { app },
        Array.from({ length: 96 }, (_none, place) => [
          nowNs - BigInt(place >> 1) * hourNs - hourNs / 2n + BigInt(place & 1),
          `line n=${place}`,
        ]),
      );
    const more = {
      backend: backend.url,
      'rate-limit-per-second': '0',
      'server.register-instrumentation': 'true',
      'compat-cache-enabled': 'false',
      ...flags,
    };
    await withProxyFile('pipelines/reference-compatible.yaml', ({ url }) => use(houseOf(backend, url)), {
      flags: more,
    });
  } finally {
    await backend.close();
  }
}

function houseOf(backend: DevBackend, url: string): House {
  return {
    backend,
    url,
    faults: async (...rules) => {
      await fetch(`${backend.url}/-/faults`, { method: 'POST', body: JSON.stringify(rules) });
    },
    ask: async (query, hours, more = {}) => {
      const params = new URLSearchParams({
        query,
        start: String(nowNs - BigInt(hours) * hourNs),
        end: String(nowNs),
        ...more,
      });
      const answer = await fetch(`${url}/loki/api/v1/query_range?${params.toString()}`);
      return { status: answer.status, text: await answer.text() };
    },
    metric: async (name) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(`ref_proxy_${name} `));
      return Number(line?.split(' ').at(-1) ?? NaN);
    },
  };
}

interface Body {
  readonly data: { readonly result: readonly { readonly values: readonly unknown[] }[] };
  readonly warnings?: readonly string[];
}

/** The number of lines or points, and the warnings. */
function partsOf(t: ExecutionContext, { status, text }: Got): { readonly count: number; warnings: unknown } {
  t.is(status, 200, text);
  const { data, warnings = [] } = JSON.parse(text) as Body;
  return { count: data.result.reduce((sum, { values }) => sum + values.length, 0), warnings };
}

/** Starts a heavy query that the backend never answers. The returned function cancels it. */
async function takeHeavyPlace(url: string, faults: House['faults']): Promise<() => Promise<void>> {
  // Only the listing precedes the query for its rows, which holds the slot.
  const listing = { path: '/select/logsql/query', query: 'field_names', latencyMs: 0 };
  await faults(listing, { path: '/select/logsql/query', query: '"busy"', hang: true });
  const gone = new AbortController();
  const query = encodeURIComponent('max_over_time({app="busy"} | logfmt | unwrap n [7h])');
  const heavy = fetch(`${url}/loki/api/v1/query?query=${query}`, { signal: gone.signal });
  const ended = Promise.allSettled([heavy]);
  await metricIs(url, 'ref_proxy_backend_heavy_queries{state="running"}', (value) => value === 1);
  return async () => {
    gone.abort();
    await ended;
  };
}

const preflight = { path: '/select/logsql/query', query: 'stats by (_time:' } as const;
const density = { path: '/select/logsql/stats_query' } as const;

test.serial('the newest lines of a long range need no place among heavy queries', async (t) => {
  const flags = {
    'backend-max-concurrent-heavy-queries': '1',
    'backend-heavy-query-queue-wait': '1s',
  };
  await withHouse(flags, async ({ url, ask, faults }) => {
    const leave = await takeHeavyPlace(url, faults);
    t.is(partsOf(t, await ask('{app="old"}', 48)).count, 96);
    await leave();
  });
});

const broken: readonly FaultRule[] = [
  { ...preflight, status: 500, text: 'x' },
  { ...preflight, status: 400, text: 'x' },
  { ...preflight, hang: true },
  { ...density, status: 500, text: 'x' },
  { ...density, hang: true },
];
for (const rule of broken)
  test.serial(`lines are read without the count that plans the read: ${JSON.stringify(rule)}`, async (t) => {
    await withHouse({ 'query-range-window-timeout': '3s' }, async ({ ask, faults, metric }) => {
      await faults(rule);
      t.deepEqual(partsOf(t, await ask('{app="old"}', 24)), { count: 48, warnings: [] });
      t.is(await metric('window_prefilter_error_total'), rule.path === preflight.path ? 1 : 0);
    });
  });

test.serial('a request waits for the gates once, in however many parts it is asked', async (t) => {
  const flags = {
    'backend-max-concurrent-heavy-queries': '1',
    'backend-heavy-query-queue-wait': '3s',
  };
  await withHouse(flags, async ({ url, ask, faults }) => {
    const leave = await takeHeavyPlace(url, faults);
    // Its windows are rejected, and then the whole query.
    const refused = ask('sum(count_over_time({app="old"} |= "line" [8h]))', 4, { step: '1h' });
    const waitsAgain = async (): Promise<string> => {
      await metricIs(url, 'ref_proxy_backend_heavy_queries_refused_total', (value) => value >= 1);
      await metricIs(url, 'ref_proxy_backend_heavy_queries{state="waiting"}', (value) => value >= 1);
      return 'waits again';
    };
    const waiting = waitsAgain().catch(() => 'closed');
    const first = await Promise.race([refused.then(({ status }) => status), waiting]);
    t.is(first, 429);
    await leave();
  });
});

const partial = {
  'query-range-partial-responses': 'true',
  'query-range-window-timeout': '2s',
  'http-write-timeout': '20s',
  'query-range-adaptive-parallel': 'false',
  'query-range-max-parallel': '1',
};
/** Lets counts pass; rules are tried in order. */
const countsPass: FaultRule = { path: '/select/logsql/query', query: '| stats ', latencyMs: 0 };

test.serial('a window of lines that hangs is given up in time, and the others are answered', async (t) => {
  await withHouse(partial, async ({ ask, faults }) => {
    // The read of all windows, and then the read of the newest one.
    await faults(countsPass, { path: '/select/logsql/query', hang: true, times: 2 });
    t.deepEqual(partsOf(t, await ask('{app="old"}', 24)), {
      count: 46,
      warnings: ['partial response: 1 time windows could not be read'],
    });
  });
});

test.serial('a window of a metric that hangs is given up in time, and the others are answered', async (t) => {
  await withHouse(partial, async ({ ask, faults }) => {
    await faults(countsPass, { path: '/select/logsql/query', hang: true, times: 2 });
    const { count, warnings } = partsOf(
      t,
      await ask('max_over_time({app="old"} | logfmt | unwrap n [1h])', 24, { step: '1h' }),
    );
    t.deepEqual(warnings, ['partial response: 1 time windows could not be read']);
    t.is(count, 25 - 1);
  });
});

test.serial('an answer is in time where all windows hang', async (t) => {
  const flags = { ...partial, 'http-write-timeout': '10s' };
  await withHouse(flags, async ({ ask, faults }) => {
    await faults(countsPass, { path: '/select/logsql/query', hang: true });
    t.deepEqual(partsOf(t, await ask('{app="old"}', 24)), {
      count: 0,
      warnings: ['partial response: 24 time windows could not be read'],
    });
  });
});
