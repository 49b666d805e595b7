import { createServer, request as forward, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { Answered } from '../../../core/comparison/answers.js';
import { historyFlags, nowNs, withStore, type Api, type StoredEntry } from './two-times.js';

const minuteNs = 60_000_000_000n;
const untilNs = nowNs - 60n * minuteNs;
const range = { start: String(nowNs - 120n * minuteNs), end: String(nowNs) };
const young = { start: String(untilNs), end: String(nowNs) };

/** An entry at the given minute after the move. */
function entryAt(minute: number, line: string, app = 'shop'): StoredEntry {
  return { stream: { app }, timeNs: untilNs + BigInt(minute) * minuteNs, line };
}

/** The behavior of the old Loki. */
interface Manners {
  isDown?: boolean;
  hangs?: boolean;
  /** Sends half of each body, and closes the connection. */
  breaksOff?: boolean;
  status?: number;
  body?: string;
  /** URLs that contain this text get a 404. */
  lacks?: string;
}

interface Under {
  readonly api: Api;
  readonly manners: Manners;
  /** Requests that the old Loki received. */
  readonly asked: { readonly url: string; readonly headers: IncomingMessage['headers'] }[];
}

/** Runs a proxy over an old Loki and a backend; a server in front of the old Loki applies its `manners`. */
async function withHistory(
  t: ExecutionContext,
  { old, young: newer }: { readonly old: readonly StoredEntry[]; readonly young: readonly StoredEntry[] },
  use: (under: Under) => Promise<void>,
  options: Readonly<Record<string, string>> = {},
  userInfo = '',
): Promise<void> {
  t.timeout(120_000);
  const manners: Manners = {};
  const asked: Under['asked'] = [];
  await withStore(old, async (loki) => {
    const front = createServer((incoming, outgoing) => {
      const { url = '/', method = 'GET', headers } = incoming;
      asked.push({ url, headers });
      if (manners.isDown === true) outgoing.destroy();
      if (manners.isDown === true || manners.hangs === true) return;
      const status = manners.lacks !== undefined && url.includes(manners.lacks) ? 404 : manners.status;
      if (status !== undefined) {
        outgoing.writeHead(status, { 'content-type': 'text/plain' }).end(manners.body ?? 'it says no');
        return;
      }
      const sent = forward(loki.url + url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        if (manners.breaksOff !== true) answer.pipe(outgoing);
        else
          answer.once('data', (data: Buffer) =>
            outgoing.write(data.subarray(0, data.length / 2), () => outgoing.destroy()),
          );
      });
      incoming.pipe(sent);
    });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    // A server on TCP has an address object.
    const { port } = front.address() as AddressInfo;
    try {
      await withStore(newer, (api) => use({ api, manners, asked }), {
        ...historyFlags(`http://${userInfo}127.0.0.1:${port}`, untilNs),
        ...options,
      });
    } finally {
      front.closeAllConnections();
      front.close();
    }
  });
}

const both = {
  old: [entryAt(-30, 'old'), entryAt(-1, 'before')],
  young: [entryAt(1, 'after'), entryAt(30, 'new')],
};

function linesOf({ body }: Answered): readonly string[] {
  const { data } = body as {
    readonly data: { readonly result: readonly { readonly values: readonly [string, string][] }[] };
  };
  const values = data.result.flatMap((stream) => stream.values);
  return values.sort(([a], [b]) => (a < b ? 1 : -1)).map(([, line]) => line);
}

test('lines from before the move come from the old Loki, which is asked for no others', async (t) => {
  await withHistory(t, both, async ({ api, asked }) => {
    const lines = await api.ask('query_range', { ...range, query: '{app="shop"}' });
    t.deepEqual(linesOf(lines), ['new', 'after', 'before', 'old']);
    const forwards = { ...range, query: '{app="shop"}', direction: 'forward', limit: '3' };
    t.deepEqual(linesOf(await api.ask('query_range', forwards)), ['after', 'before', 'old']);
    const ranges = asked.map(({ url }) => new URL(url, 'http://loki').searchParams);
    t.true(ranges.length > 0 && ranges.every((params) => BigInt(params.get('end') ?? '') <= untilNs));
    const before = asked.length;
    t.deepEqual(linesOf(await api.ask('query_range', { ...young, query: '{app="shop"}' })), ['new', 'after']);
    t.deepEqual(linesOf(await api.ask('query_range', { ...range, query: '{app="shop"} ', limit: '2' })), [
      'new',
      'after',
    ]);
    t.is(asked.length, before, 'young lines are not asked of the old Loki');
    t.is(await api.metric('loki_history_requests_total{route="new"}'), 1);
    t.true((await api.metric('loki_history_requests_total{route="both"}')) >= 3);
    t.true((await api.metric('loki_history_calls_total{outcome="answered"}')) >= 2);
  });
});

test('the old Loki gets the tenant of the request, and the user and the password of its address', async (t) => {
  await withHistory(
    t,
    both,
    async ({ api, asked }) => {
      await api.ask('query_range', { ...range, query: '{app="shop"}' }, { 'x-scope-orgid': '11' });
      await api.ask('labels', range, { 'x-scope-orgid': '11|12' });
      t.deepEqual(new Set(asked.map(({ headers }) => headers['x-scope-orgid'])), new Set(['11', '12']));
      const basic = `Basic ${Buffer.from('reader:secret word').toString('base64')}`;
      t.true(asked.every(({ headers }) => headers.authorization === basic));
    },
    {},
    'reader:secret%20word@',
  );
});

const needing: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['query_range', { ...range, query: '{app="shop"}' }],
  ['query_range', { ...range, query: 'sum(count_over_time({app="shop"}[30m]))', step: '600' }],
  [
    'query_range',
    { ...range, query: 'quantile_over_time(0.5, {app="shop"} | logfmt | unwrap a [30m])', step: '600' },
  ],
  ['query', { query: 'sum(count_over_time({app="shop"}[2h]))', time: String(nowNs) }],
  ['query', { query: 'sum(count_over_time({app="shop"}[5m]))', time: String(untilNs - minuteNs) }],
  ['labels', range],
  ['label/app/values', range],
  ['series', { ...range, 'match[]': '{app="shop"}' }],
  ['index/stats', { ...range, query: '{app="shop"}' }],
  ['index/volume', { ...range, query: '{app="shop"}' }],
  ['index/volume_range', { ...range, query: '{app="shop"}', step: '600' }],
  ['detected_labels', range],
  ['detected_fields', { ...range, query: '{app="shop"}' }],
  ['patterns', { ...range, query: '{app="shop"}' }],
];

for (const [trouble, change, statuses, says] of [
  ['is down', { isDown: true }, [502], /^old Loki: /],
  ['hangs', { hangs: true }, [504], /^old Loki: no answer within -loki-history-timeout/],
  ['breaks off in the middle', { breaksOff: true }, [502, 504], /^old Loki: /],
  [
    'fails',
    { status: 500, body: 'too many outstanding requests' },
    [502],
    /^old Loki: .*too many outstanding/,
  ],
  [
    'is something else',
    { status: 200, body: '<html>a page</html>' },
    [502],
    /^old Loki: its answer is not that of a Loki/,
  ],
  ['refuses the proxy', { status: 401 }, [502], /^old Loki: status 401; check the user and the password/],
  ['has too much to do', { status: 429, body: 'slow down, please' }, [429], /^old Loki: slow down, please/],
] as const)
  test(`nothing is answered in part when the old Loki ${trouble}, and young data as ever`, async (t) => {
    await withHistory(
      t,
      both,
      async ({ api, manners }) => {
        Object.assign(manners, change);
        for (const [path, params] of needing) {
          const { status, body } = await api.ask(path, params);
          t.true(
            (statuses as readonly number[]).includes(status),
            `${path} ${status} ${JSON.stringify(body)}`,
          );
          const { error, message = error } = body as { readonly error?: string; readonly message?: string };
          t.regex(message ?? '', says, path);
        }
        t.deepEqual(linesOf(await api.ask('query_range', { ...young, query: '{app="shop"}' })), [
          'new',
          'after',
        ]);
        const count = { query: 'sum(count_over_time({app="shop"}[40m]))', time: String(nowNs) };
        t.regex(JSON.stringify((await api.ask('query', count)).body), /"value":\[\d+,"1"\]/);
        t.is((await fetch(`${api.url}/ready`)).status, 200);
      },
      { 'loki-history-timeout': trouble === 'hangs' ? '300ms' : '60s', 'cb-fail-threshold': '1000' },
    );
  });

test('where answers may be partial, those without old data carry a warning and are not kept', async (t) => {
  await withHistory(
    t,
    both,
    async ({ api, manners }) => {
      manners.isDown = true;
      for (const [path, params] of needing) {
        const { status, body } = await api.ask(path, params);
        t.is(status, 200, `${path} ${JSON.stringify(body)}`);
        t.regex(
          String((body as { readonly warnings?: unknown }).warnings),
          /old Loki could not be read/,
          path,
        );
      }
      t.deepEqual(linesOf(await api.ask('query_range', { ...range, query: '{app="shop"}' })), [
        'new',
        'after',
      ]);
      const counts = { ...range, query: 'sum(count_over_time({app="shop"}[10m]))', step: '600' };
      t.regex(
        JSON.stringify((await api.ask('query_range', counts)).body),
        /"values":\[\[\d+,"1"\],\[\d+,"1"\]\]/,
      );
      t.true((await api.metric('loki_history_partial_answers_total')) >= needing.length);
      manners.isDown = false;
      const whole = await api.ask('query_range', { ...range, query: '{app="shop"}' });
      t.deepEqual(linesOf(whole), ['new', 'after', 'before', 'old']);
      t.false('warnings' in (whole.body as object));
    },
    { 'query-range-partial-responses': 'true', 'cb-fail-threshold': '1000' },
  );
});

test('the circuit breaker cuts off an old Loki that is down', async (t) => {
  await withHistory(
    t,
    both,
    async ({ api, manners, asked }) => {
      manners.isDown = true;
      for (let time = 0; time < 6; time += 1)
        await api.ask('labels', { ...range, query: `{app="a${time}"}` });
      const before = asked.length;
      const { status } = await api.ask('labels', range);
      t.deepEqual([status, asked.length], [502, before]);
      t.is(await api.metric('loki_history_circuit_breaker_state'), 1);
    },
    { 'cb-fail-threshold': '3', 'cb-open-duration': '1h' },
  );
});

test('a query that the old Loki refuses is refused with its text', async (t) => {
  await withHistory(t, both, async ({ api, manners }) => {
    Object.assign(manners, { status: 400, body: 'maximum of series (500) reached for a single query' });
    const { status, body } = await api.ask('query_range', {
      ...range,
      query: 'rate({app="shop"}[5m])',
      step: '60',
    });
    t.is(status, 400);
    t.regex(JSON.stringify(body), /"maximum of series \(500\) reached/);
  });
});

test('an error of vector matching in the old Loki has the status and the text that Loki gives', async (t) => {
  await withHistory(t, both, async ({ api, manners }) => {
    const text = 'multiple matches for labels: grouping labels must ensure unique matches';
    Object.assign(manners, { status: 500, body: text });
    const { status, body } = await api.ask('query_range', {
      ...range,
      query: 'sum(rate({app="shop"}[5m])) + sum(rate({app="shop"}[5m]))',
      step: '60',
    });
    t.is(status, 500);
    t.true(JSON.stringify(body).includes(`"${text}"`), JSON.stringify(body));
  });
});

test('an old Loki without patterns is told by a warning', async (t) => {
  await withHistory(t, both, async ({ api, manners }) => {
    manners.lacks = '/patterns';
    const { status, body } = await api.ask('patterns', { ...range, query: '{app="shop"}' });
    t.is(status, 200);
    t.regex(JSON.stringify(body), /the old Loki has no patterns/);
  });
});

const quantile = {
  ...range,
  query: 'quantile_over_time(0.5, {app="shop"} | logfmt | unwrap a [30m])',
  step: '600',
};

test('ranges over the move are evaluated from a bounded number of lines, read in pages', async (t) => {
  const lines = (from: number): StoredEntry[] =>
    Array.from({ length: 25 }, (_none, index) => entryAt(from + Math.floor(index / 2), `a=${index}`));
  const stored = { old: lines(-13), young: lines(0) };
  const bounded = { 'loki-history-lines-per-call': '4', 'loki-history-max-lines': '50' };
  let expected: unknown;
  await withStore([...stored.old, ...stored.young], async (api) => {
    expected = (await api.ask('query_range', quantile)).body;
  });
  const resultOf = (body: unknown): unknown =>
    (body as { readonly data: { readonly result: unknown } }).data.result;
  await withHistory(
    t,
    stored,
    async ({ api }) => {
      t.deepEqual(resultOf((await api.ask('query_range', quantile)).body), resultOf(expected));
      t.is(await api.metric('loki_history_lines_total'), 50);
    },
    bounded,
  );
  await withHistory(
    t,
    stored,
    async ({ api }) => {
      const { status, body } = await api.ask('query_range', quantile);
      t.is(status, 400);
      t.regex(JSON.stringify(body), /need more than 49 lines .* increase -loki-history-max-lines/);
    },
    { ...bounded, 'loki-history-max-lines': '49' },
  );
});

test('an answer of the old Loki that is too large is an error that says so', async (t) => {
  await withHistory(
    t,
    { old: [entryAt(-1, 'x'.repeat(5000))], young: [] },
    async ({ api }) => {
      const { status, body } = await api.ask('query_range', { ...range, query: '{app="shop"}' });
      t.is(status, 400);
      t.regex(JSON.stringify(body), /exceeds 2000 bytes; .* increase -loki-history-max-answer-bytes/);
    },
    { 'loki-history-max-answer-bytes': '2000' },
  );
});
