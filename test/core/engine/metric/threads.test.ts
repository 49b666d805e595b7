import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import fc from 'fast-check';
import { LineWorkers } from '../../../../core/logql/lines/line-workers.js';
import {
  gridColumns,
  defaultMetricLimits,
  leavesOf,
  planLeaves,
  type LeafRequest,
  type MetricLimits,
} from '../../../../core/logql/metric/index.js';
import { rowThreadMetrics, RowThreads } from '../../../../core/engine/metric/threads/row-threads.js';
import { makeHost } from '../../../../core/testing/fake-host.js';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { isOutage } from '../../../../core/victoria/upstream/failures.js';
import { MemoryAccount } from '../../../../core/base/memory/account.js';
import { runs } from '../../../setup/samples.js';
import {
  forStored,
  instantRequest,
  MetricStore,
  naming,
  storedFromNs as base,
  type StoredEntry,
} from './metric-store.js';

const second = 1_000_000_000n;

let store: MetricStore;
let account = 300;
let jobs = 0;
/** Outcome of the last job. */
let last = '';
const lines = new LineWorkers({ threads: 1, timeoutMs: 60_000 });
const rowThreads = openThreads();

function openThreads(): RowThreads {
  const { meters } = makeHost({ metrics: rowThreadMetrics });
  const ended = {
    ...meters.row_threads_jobs_total,
    add: (_one: number, { outcome }: { readonly outcome: string }): void => {
      jobs += 1;
      last = outcome;
    },
  };
  return new RowThreads({ rowThreads: '1', rowThreadsMinRows: 0 }, lines, {
    ...meters,
    row_threads_jobs_total: ended,
  });
}

const limited = 399;

test.before(async () => {
  store = await MetricStore.open();
  // Many different lines.
  await store.push(
    limited,
    Array.from({ length: 500 }, (_none, at) => ({
      ns: base + BigInt(at) * second,
      stream: { app: 'limits' },
      line: `line ${at} ${'x'.repeat(200)}`,
    })),
  );
});

test.after.always(async () => {
  rowThreads.close();
  lines.close();
  await store.close();
});

const streams = [
  { app: 'a', env: 'x', level: 'error' },
  { app: 'a', env: 'y' },
  { job: 'ö', env: 'x' },
] as const;
const metadata: readonly Readonly<Record<string, string>>[] = [
  {},
  { severity: 'info' },
  { 'trace.id': 'abc' },
  { constructor: 'f', toString: 'v' },
];
const texts = [
  '{"status":500,"took":"1.5s","path":"/a"}',
  '{"status":200,"took":"20ms","path":"/größe"}',
  'status=404 took=3 path=/c',
  'level=warn plain',
  '',
];

/** Few times and lines, so that rows share them and are pushed twice; an empty line is stored as none. */
const entries: fc.Arbitrary<readonly StoredEntry[]> = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 600 }), fc.constantFrom(...streams), fc.constantFrom(...texts))
    .map(([at, stream, line]) => ({
      ns: base + BigInt(at) * second,
      stream,
      line,
      metadata: metadata[(at + line.length) % metadata.length] ?? {},
    })),
  { minLength: 20, maxLength: 80 },
);

/** Queries with every function and every way to keep samples, with groupings, errors and labels from lines. */
const queries = [
  'sum by (status, detected_level) (count_over_time({env=~".+"} | json | __error__="" [RANGE]))',
  'rate({env=~".+"} | logfmt | drop __error__, __error_details__ [RANGE])',
  'sum by (path) (bytes_rate({env=~".+"} | json | drop __error__, __error_details__ [RANGE]))',
  'quantile_over_time(0.9, {env=~".+"} | json | unwrap duration(took) | __error__="" [RANGE]) by (app)',
  'rate_counter({env=~".+"} | logfmt | unwrap took | __error__="" [RANGE])',
  'avg_over_time({env=~".+"} | json | unwrap status | __error__="" [RANGE]) by (env)',
  'stddev_over_time({env=~".+"} | json | unwrap status | __error__="" [RANGE]) by (env)',
  'first_over_time({env=~".+"} | json | unwrap status | __error__="" [RANGE])',
  'last_over_time({env=~".+"} | json | unwrap status | __error__="" [RANGE]) by (job)',
  'max_over_time({env=~".+"} | json | unwrap status | __error__="" [RANGE])',
  'absent_over_time({env=~".+"} | json | status = 500 [RANGE])',
  'topk(2, sum by (path, trace_id) (count_over_time({env=~".+"} | line_format "{{.status}}" |~ "[0-9]" [RANGE])))',
  'sum_over_time({env=~".+"} | json | unwrap status [RANGE])',
];

async function outcome(run: Promise<{ readonly answer: object }>): Promise<object> {
  try {
    const { answer } = await run;
    return JSON.parse(JSON.stringify({ ...answer, stats: undefined }, replaced)) as object;
  } catch (error) {
    return { error: String(error) };
  }
}

function replaced(_name: string, value: unknown): unknown {
  return typeof value === 'number' ? value.toPrecision(12) : value;
}

test.serial('rows counted in a thread give the answers, and the errors, of rows counted here', async (t) => {
  t.timeout(300_000);
  const nextAccount = (): number => (account += 1);
  await forStored(store, entries, queries, runs(3), nextAccount, async (request, own, text) => {
    const asked = { account: own, pushdown: 'off' } as const;
    const here = await outcome(store.run(request, asked));
    const before = jobs;
    const there = await outcome(store.run(request, { ...asked, rowThreads }));
    t.is(jobs, before + 1, text);
    t.is(last, 'error' in here ? 'failed' : 'done', text);
    t.deepEqual(there, here, text);
  });
});

const counting = 'sum by (line) (count_over_time({app="limits"} | pattern "<line>" [10m]))';
const whole = instantRequest(counting, base + 600n * second);
const limits: Readonly<Record<string, () => Partial<MetricLimits>>> = {
  cells: () => ({ maxCells: 100 }),
  series: () => ({ maxSeries: 100 }),
  memory: () => ({ memory: new MemoryAccount(200_000) }),
};

for (const [name, limit] of Object.entries(limits))
  test.serial(`rows counted in a thread meet the limit on ${name} with the same error`, async (t) => {
    const asked = { account: limited, pushdown: 'off' } as const;
    const here = await t.throwsAsync(store.run(whole, { ...asked, limits: limit() }));
    const there = await t.throwsAsync(store.run(whole, { ...asked, limits: limit(), rowThreads }));
    t.truthy(here.message);
    t.is(there.message, here.message);
    t.is(last, 'failed');
  });

test.serial('what a thread holds is charged to the query', async (t) => {
  const [here, there] = [new MemoryAccount(0), new MemoryAccount(0)];
  await store.run(whole, { account: limited, pushdown: 'off', limits: { memory: here } });
  await store.run(whole, { account: limited, pushdown: 'off', limits: { memory: there }, rowThreads });
  const labels = (account: MemoryAccount): number | undefined => account.held.get('the labels of series');
  t.true((labels(here) ?? 0) > 50_000);
  t.is(labels(there), labels(here));
});

test.serial('a client that goes away leaves the thread to others', async (t) => {
  const controller = new AbortController();
  const gone = store.run(whole, {
    account: limited,
    pushdown: 'off',
    signal: controller.signal,
    asked: () => controller.abort(new Error('gone')),
    rowThreads,
  });
  await t.throwsAsync(gone, { message: 'context canceled' });
  const { answer } = await store.run(whole, { account: limited, pushdown: 'off', rowThreads });
  t.is(answer.kind === 'vector' ? answer.samples.length : 0, 499);
});

test.serial('queries in progress fail when threads end, and later ones get a new thread', async (t) => {
  const threads = openThreads();
  const ended = store.run(whole, {
    account: limited,
    pushdown: 'off',
    asked: () => threads.close(),
    rowThreads: threads,
  });
  await t.throwsAsync(ended, { message: 'the proxy is shutting down' });
  await t.notThrowsAsync(store.run(whole, { account: limited, pushdown: 'off', rowThreads: threads }));
  threads.close();
});

const odd: Readonly<Record<string, RegExp>> = {
  'no row at all\n':
    /^unexpected response from the backend to \/select\/logsql\/query: a line that is not a row/,
  '{"_time":"2026-11-01T00:00:00Z","_msg":3}\n': /the field "_msg" of a row is 3, not a string/,
  '{"_time":"yesterday","_msg":"x"}': /_time of a row is "yesterday"/,
  [`{"_time":"2026-11-01T00:00:00Z","_msg":"${'x'.repeat(2000)}"}`]: /1000/,
};

for (const [body, message] of Object.entries(odd))
  test.serial(`a thread refuses an answer that begins ${body.slice(0, 60).trim()}`, async (t) => {
    const { verdicts, error } = await readOdd((response) => {
      response.setHeader('content-type', 'application/stream+json');
      response.end(body);
    });
    t.regex(error?.message ?? '', message);
    t.true(error instanceof ApiError && error.status >= 500);
    t.deepEqual(verdicts, ['succeed']);
  });

test.serial('a thread tells what the head of an answer says of the backend', async (t) => {
  const refused = await readOdd((response) => {
    response.statusCode = 503;
    response.end('too many calls at once');
  });
  t.is(refused.error?.message, 'too many calls at once');
  t.true(isOutage(refused.error));
  t.deepEqual(refused.verdicts, ['succeed', 'release']);
  const cut = await readOdd((response) => response.destroy());
  t.regex(cut.error?.message ?? '', /socket hang up/);
  t.deepEqual(cut.verdicts, ['fail']);
});

/** Lets the thread read a response of the backend; returns its error and what it reported to the circuit breaker. */
async function readOdd(
  answer: (response: ServerResponse) => void,
): Promise<{ readonly verdicts: readonly string[]; readonly error: Error | undefined }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const { leaf, columns, limits: all } = leafOf(counting);
  const { memory, ...others } = all;
  const { signal } = new AbortController();
  const job = rowThreads.begin(
    0,
    {
      ...{ leaf, columns, limits: others, memory: { limit: 0, held: memory.held } },
      ...{ naming: naming.settings, pipes: [], repeats: 'anywhere', streams: undefined },
    },
    { signal, memory, counts: { read: () => undefined } },
  );
  if (job === undefined) throw new Error('no thread');
  const verdicts: string[] = [];
  const call = { path: '/select/logsql/query', method: 'POST', form: [], headers: {} } as const;
  const limitsOf = { timeout: 60_000, maxConcurrent: 1, maxBufferedResponseBytes: 1e6, maxRowBytes: 1000 };
  try {
    const read = job.read({
      call: { ...call, isJson: true, statusRule: 'keep' },
      backend: { url: `http://127.0.0.1:${port}`, compression: 'none', tlsSkipVerify: false, ...limitsOf },
      breakerPermit: {
        succeed: () => verdicts.push('succeed'),
        fail: () => verdicts.push('fail'),
        release: () => verdicts.push('release'),
      },
      signal,
    });
    for await (const { length } of read) if (length > 0) throw new Error('rows');
    return { verdicts, error: undefined };
  } catch (error) {
    return { verdicts, error: error as Error };
  } finally {
    job.close();
    server.close();
    server.closeAllConnections();
  }
}

function leafOf(text: string): LeafRequest {
  const { ast } = instantRequest(text, base).query;
  const [leaf] = ast.kind === 'log' ? [] : leavesOf(planLeaves(ast).tree);
  if (leaf === undefined) throw new Error('no metric query');
  const { signal } = new AbortController();
  const columns = gridColumns({ kind: 'instant', timeNs: base });
  return { leaf, columns, limits: defaultMetricLimits, signal };
}
