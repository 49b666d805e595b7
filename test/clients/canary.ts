/** loki-canary: writes lines at a fixed interval and looks for each of them by tail and by query. */
import { ClientFailure, holds, same } from './check.js';
import { nanos } from './demo-data.js';
import { featuresOf, type Scene } from './feature.js';
import { readGrafanaAnswer } from './grafana-reader.js';
import { goEscape, type Reply } from './http.js';
import { Tail } from './tail.js';

const labels = { name: 'loki-canary', stream: 'stdout' } as const;

export const canary = featuresOf('loki-canary', 'logcli, canary, lokitool', [
  {
    feature: 'tail and query loop: every written line arrives by tail and is found by a query',
    sends: ['WS tail', 'GET query_range'],
    run: async (scene) => {
      const { http, stage } = scene;
      const own = { ...labels, run: 'loop' };
      const query = '{stream="stdout",name="loki-canary",run="loop"}';
      const tail = await Tail.open(http, [['query', `${query} `]], { 'X-Scope-OrgID': stage.liveOrgId });
      const written: bigint[] = [];
      for (let count = 1; count <= 8; count += 1) {
        const atNs = nanos(Date.now()) + BigInt(count);
        written.push(atNs);
        await stage.push([{ labels: own, line: `${atNs} ppppppppppppppp`, atMs: Number(atNs / 1_000_000n) }]);
        const received = (await tail.untilLines(count)).map(({ line }) => readLine(line));
        same(received, written, 'received by tail');
      }
      await tail.untilPings(1);
      tail.end();
      for (const atNs of written) {
        const found = await spotCheck(scene, query, atNs);
        holds(found.includes(atNs), `the line of ${atNs} is missing from the query`);
      }
      same(await missing(scene, query, written), [], 'confirmed as missing');
    },
  },
  {
    feature: 'metric test: a vector with one sample that counts the lines',
    sends: ['GET query'],
    run: async (scene) => {
      const now = Date.now();
      const own = { ...labels, run: 'metric' };
      const query = '{stream="stdout",name="loki-canary",run="metric"}';
      const atMs = [50, 40, 30, 20, 10].map((back) => now - back * 1_000);
      await scene.stage.push(atMs.map((at) => ({ labels: own, line: `${nanos(at)} pppp`, atMs: at })));
      same(await count(scene, '60s', nanos(now) + 10n, { query }), 5, 'count');
    },
  },
  {
    feature: 'cache test: equal counts with and without the cache',
    sends: ['GET query'],
    run: async (scene) => {
      const own = { ...labels, run: 'cache' };
      const query = '{stream="stdout",name="loki-canary",run="cache"}';
      const base = scene.data.endMs - 30 * 60_000;
      const atMs = [0, 1_000, 2_000].map((after) => base + after);
      await scene.stage.push(atMs.map((at) => ({ labels: own, line: `${nanos(at)} pppp`, atMs: at })));
      for (const isCached of [true, false, true, false]) {
        same(
          await count(scene, '120s', nanos(base + 60_000), { query, isCached }),
          3,
          `cache ${String(isCached)}`,
        );
      }
    },
  },
  {
    feature: 'no lines give no sample, which the canary reports as missing lines',
    sends: ['GET query'],
    run: async ({ http, stage }) => {
      const reply = await ask(
        { http, orgId: stage.liveOrgId },
        'count_over_time({stream="stdout",name="no-canary"}[60s])',
        nanos(Date.now()),
        true,
      );
      const { resultType, series } = readGrafanaAnswer(reply.text);
      same([resultType, series.length], ['vector', 0], 'answer');
    },
  },
  {
    feature:
      'a tail that reaches its maximum duration ends with a reason that makes the canary reconnect at once',
    notOnLoki: 'the limit is part of its configuration',
    sends: ['WS tail'],
    run: async ({ http, stage }) => {
      const short = http.at(await stage.proxyUrl({ 'tail.max-duration': '200ms' }));
      for (const attempt of ['first', 'second']) {
        const tail = await Tail.open(short, [['query', '{stream="stdout",name="loki-canary"} ']], {
          'X-Scope-OrgID': stage.liveOrgId,
        });
        same((await tail.closed())[1], 'reached tail max duration limit', `${attempt} close`);
      }
    },
  },
  {
    feature: 'too many requests return 429, which makes it wait; one canary stays below the limit',
    notOnLoki: 'it limits no requests',
    sends: ['GET query'],
    run: async (scene) => {
      const { http, stage } = scene;
      const timeNs = nanos(Date.now());
      const query = 'count_over_time({stream="stdout",name="no-canary"}[60s])';
      const headers = { 'X-Scope-OrgID': stage.liveOrgId };
      const send = (one: Scene['http']): Promise<Reply> =>
        one.send('GET', '/loki/api/v1/query', {
          query: `query=${goEscape(query)}&time=${timeNs}&limit=1000`,
          headers,
        });
      const narrow = http.at(await stage.proxyUrl({ 'rate-limit-per-second': '1', 'rate-limit-burst': '1' }));
      const replies = await Promise.all([send(narrow), send(narrow), send(narrow)]);
      holds(
        replies.some(({ status }) => status === 429),
        'no 429',
      );
      // The default pipeline accepts a burst as large as a canary's requests of one minute.
      const shipped = http.at(await stage.proxyUrl({ 'rate-limit-per-second': '50' }));
      for (let count = 0; count < 20; count += 1) same((await send(shipped)).status, 200, `request ${count}`);
    },
  },
]);

/** The timestamp in a canary line; a line of another form would be reported as broken. */
function readLine(line: string): bigint {
  const [stamp, padding, ...more] = line.split(' ');
  if (stamp === undefined || padding === undefined || more.length > 0)
    throw new ClientFailure(`invalid entry: ${line}`);
  return BigInt(stamp);
}

async function spotCheck({ http, stage }: Scene, query: string, atNs: bigint): Promise<readonly bigint[]> {
  return find({ http, orgId: stage.liveOrgId }, query, atNs - 10_000_000_000n, atNs + 10_000_000_000n);
}

/** Lines that a final query over all of them does not find either. */
async function missing(
  { http, stage }: Scene,
  query: string,
  written: readonly bigint[],
): Promise<readonly bigint[]> {
  const [first = 0n, last = 0n] = [written[0], written.at(-1)];
  const found = await find(
    { http, orgId: stage.liveOrgId },
    query,
    first - 10_000_000_000n,
    last + 10_000_000_000n,
  );
  return written.filter((atNs) => !found.includes(atNs));
}

interface Asked {
  readonly http: Scene['http'];
  readonly orgId: string;
}

async function find(
  { http, orgId }: Asked,
  query: string,
  startNs: bigint,
  endNs: bigint,
): Promise<readonly bigint[]> {
  const reply = await http.send('GET', '/loki/api/v1/query_range', {
    query: `start=${startNs}&end=${endNs}&query=${goEscape(`${query} `)}&limit=1000`,
    headers: { 'User-Agent': 'loki-canary/3.6.0', 'X-Scope-OrgID': orgId },
  });
  same(reply.status, 200, reply.text);
  const { resultType, rows } = readGrafanaAnswer(reply.text);
  same(resultType, 'streams', 'resultType');
  return rows.map(({ line }) => readLine(line));
}

async function ask({ http, orgId }: Asked, query: string, timeNs: bigint, isCached: boolean): Promise<Reply> {
  const reply = await http.send('GET', '/loki/api/v1/query', {
    query: `query=${goEscape(query)}&time=${timeNs}&limit=1000`,
    headers: {
      'User-Agent': 'loki-canary/3.6.0',
      'X-Scope-OrgID': orgId,
      ...(isCached ? {} : { 'Cache-Control': 'no-cache' }),
    },
  });
  same(reply.status, 200, reply.text);
  return reply;
}

/** The canary's count: anything but a vector of one sample is an error. */
async function count(
  { http, stage }: Scene,
  range: string,
  timeNs: bigint,
  { query, isCached = true }: { readonly query: string; readonly isCached?: boolean },
): Promise<number> {
  const reply = await ask(
    { http, orgId: stage.liveOrgId },
    `count_over_time(${query}[${range}])`,
    timeNs,
    isCached,
  );
  const { resultType, series } = readGrafanaAnswer(reply.text);
  same([resultType, series.length], ['vector', 1], 'type and series');
  return series[0]?.points[0]?.[1] ?? 0;
}
