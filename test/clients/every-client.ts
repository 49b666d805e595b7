/** Behavior that all clients share: times, parameters, methods, headers. */
import { holds, json, list, members, same, stringMap, strings } from './check.js';
import { fixtureSelector, hourMs, nanos } from './demo-data.js';
import { featuresOf, type Scene } from './feature.js';
import { dataOf } from './grafana.js';
import { checkGrafanaAnswer, labelKey, readGrafanaAnswer, type GrafanaAnswer } from './grafana-reader.js';
import { formType, goQuery, shortPath, type Pairs, type Reply } from './http.js';
import { between, indexLabels, inOrder, lastHour, ofService, wantedOrder } from './oracle.js';

const store = '{service_name="storefront"}';
const api = '/loki/api/v1';

export const everyClient = featuresOf('Every client', 'Common to every client', [
  {
    feature: 'times in seconds, nanoseconds, floats, exponents and RFC 3339 are read alike',
    sends: ['GET query_range', 'GET labels'],
    run: async (scene) => {
      const { data } = scene;
      const [startMs, endMs] = [data.endMs - hourMs, data.endMs];
      const wanted = wantedOrder(between(data, startMs, endMs, ofService('storefront')), 'backward');
      for (const write of timeForms) {
        const range = [
          ['start', write(startMs)],
          ['end', write(endMs)],
        ] as const;
        const { rows } = await logs(scene, [['query', store], ['limit', '1000'], ...range]);
        same(inOrder(rows, 'backward'), wanted, write(startMs));
        const names = dataOf(json((await get(scene, 'labels', range)).text, 'labels'), 'labels');
        holds(strings(names, 'labels').includes('service_name'), `labels from ${write(startMs)}`);
      }
    },
  },
  {
    feature: 'absurd time ranges are refused on every route that takes one',
    notOnLoki: 'index/stats until 1.7e18 seconds is an error of the server there',
    sends: absurdRoutes().map(({ path }) => `GET ${path}`),
    run: async (scene) => {
      const start = String(nanos(scene.data.endMs - hourMs));
      for (const { path, pairs } of absurdRoutes()) {
        const beyond = await get(scene, path, [...pairs, ['start', start], ['end', '1.7e18']]);
        same(beyond.status, 400, `${path} until 1.7e18 seconds: ${beyond.text}`);
        // The full time range may be answered or rejected with too many points, but it must finish immediately.
        for (const end of ['9223372036854775807', '2262-04-11T23:47:16Z', '9999999999']) {
          const all = await get(scene, path, [...pairs, ['start', '0'], ['end', end]]);
          holds(all.status === 200 || all.status === 400, `${path} until ${end}: ${all.status} ${all.text}`);
        }
      }
    },
  },
  {
    feature: 'since, every form of step, and limit and direction in any letter case',
    sends: ['GET query_range'],
    run: async (scene) => {
      const { startMs, endMs } = lastHour(scene.data);
      const range = [
        ['start', String(nanos(startMs))],
        ['end', String(nanos(endMs))],
      ] as const;
      const all = between(scene.data, startMs, endMs, ofService('storefront'));
      for (const direction of ['backward', 'BACKWARD', 'forward', 'FORWARD', 'Forward'] as const) {
        const { rows } = await logs(scene, [
          ['query', store],
          ['direction', direction],
          ['limit', '7'],
          ...range,
        ]);
        const order = direction.toLowerCase() === 'forward' ? 'forward' : 'backward';
        same(inOrder(rows, order), wantedOrder(all, order).slice(0, 7), direction);
      }
      const count = [['query', `sum(count_over_time(${store}[1m]))`], ...range] as const;
      const seconds = await logs(scene, [...count, ['step', '90']]);
      for (const step of ['90s', '1m30s', '90.0', '90000ms']) {
        same((await logs(scene, [...count, ['step', step]])).series, seconds.series, `step ${step}`);
      }
      holds((await logs(scene, [...count, ['step', '1.5']])).series.length === 1, 'step 1.5');
      const since = await logs(scene, [
        ['query', store],
        ['since', '1h'],
        ['end', String(nanos(endMs))],
        ['limit', '1000'],
      ]);
      same(inOrder(since.rows, 'backward'), wantedOrder(all, 'backward'), 'since 1h');
    },
  },
  {
    feature: 'parameters in a POST form, on every route that accepts POST',
    notOnLoki: 'its lists come in no order',
    sends: ['GET', 'POST'].flatMap((method) =>
      postRoutes().map(({ path }) => `${method} ${shortPath(`${api}/${path}`)}`),
    ),
    run: async (scene) => {
      const { startMs, endMs } = lastHour(scene.data);
      for (const { path, pairs } of postRoutes()) {
        const query = goQuery([...pairs, ['start', String(nanos(startMs))], ['end', String(nanos(endMs))]]);
        const sending = { headers: { 'X-Scope-OrgID': scene.orgId } };
        const got = await scene.http.send('GET', `${api}/${path}`, { ...sending, query });
        const posted = await scene.http.send('POST', `${api}/${path}`, {
          headers: { ...sending.headers, ...formType },
          body: query,
        });
        same(posted.status, 200, `POST ${path}: ${posted.text}`);
        same(withoutStats(posted.text), withoutStats(got.text), path);
      }
    },
  },
  {
    feature: '/label equals /labels; series accepts match, match[] and several matchers',
    sends: ['GET labels', 'GET label', 'GET series'],
    run: async (scene) => {
      const range = rangeOf(scene);
      same((await get(scene, 'label', range)).text, (await get(scene, 'labels', range)).text, '/label');
      const series = async (...names: readonly string[]): Promise<number> => {
        const selectors = [store, '{service_name="checkout"}'].map(
          (text, index) => [names[index] ?? '', text] as const,
        );
        const reply = await get(scene, 'series', [...selectors.filter(([name]) => name !== ''), ...range]);
        return list(dataOf(json(reply.text, 'series'), 'series'), 'series').length;
      };
      const { startMs, endMs } = lastHour(scene.data);
      const streams = (...services: readonly string[]): number => {
        const own = between(scene.data, startMs, endMs, ({ service }) => services.includes(service));
        return new Set(own.map((entry) => JSON.stringify([...indexLabels(entry)].sort()))).size;
      };
      same(await series('match'), streams('storefront'), 'match');
      same(await series('match[]'), streams('storefront'), 'match[]');
      same(await series('match', 'match'), streams('storefront', 'checkout'), 'match twice');
      same(await series('match[]', 'match'), streams('storefront', 'checkout'), 'both names');
    },
  },
  {
    feature: 'entries have three items if categorized labels are requested, otherwise two',
    sends: ['GET query_range'],
    run: async (scene) => {
      const pairs: Pairs = [['query', `${fixtureSelector} | logfmt`], ['limit', '100'], ...rangeOf(scene)];
      for (const [flags, isCategorized] of [
        ['categorize-labels', true],
        ['categorize-labels,other', true],
        ['other,categorize-labels', true],
        ['Categorize-Labels', false],
        ['categorize-labels-too', false],
        [undefined, false],
      ] as const) {
        const headers = flags === undefined ? {} : { 'X-Loki-Response-Encoding-Flags': flags };
        const { text } = await get(scene, 'query_range', pairs, headers);
        // Loki echoes unknown flags.
        const hasOthers = flags !== undefined && flags !== 'categorize-labels';
        const { rows } = hasOthers ? readGrafanaAnswer(text) : checkGrafanaAnswer(text, { isCategorized });
        holds(rows.length > 0, 'no rows');
        for (const { labels, types } of rows) {
          same(types.size > 0, isCategorized, `flags ${flags ?? 'unset'}`);
          // Without the flag, all labels are merged into the stream.
          holds(labels.has('detected_level'), 'no detected_level');
        }
      }
    },
  },
  {
    feature: 'unknown headers are ignored',
    sends: ['GET query_range'],
    run: async (scene) => {
      const pairs: Pairs = [['query', store], ['limit', '10'], ...rangeOf(scene)];
      const plain = await get(scene, 'query_range', pairs);
      const decorated = await get(scene, 'query_range', pairs, {
        'X-Grafana-Cache': 'skip',
        'X-Loki-Query-Limits-Context': '{"expr":"{}","from":1,"to":2}',
        'X-Query-Tags': 'Source=dashboard,Feature=x',
        Accept: 'application/json, text/plain, */*',
        'Cache-Control': 'no-cache',
      });
      same(withoutStats(decorated.text), withoutStats(plain.text), 'answers');
    },
  },
  {
    feature: 'several tenants in one header are queried together',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data, stage }) => {
      const line = 'level=info tenants';
      await stage.push([
        { labels: { service_name: 'storefront', env: 'second' }, line, atMs: data.endMs - hourMs / 2 },
      ]);
      const { startMs, endMs } = lastHour(data);
      const query = goQuery([
        ['query', store],
        ['limit', '1000'],
        ['start', String(nanos(startMs))],
        ['end', String(nanos(endMs))],
      ]);
      const headers = { 'X-Scope-OrgID': `${orgId}|${stage.liveOrgId}` };
      const reply = await http.send('GET', `${api}/query_range`, { query, headers });
      const { rows } = checkGrafanaAnswer(reply.text, { isCategorized: false });
      const own = between(data, startMs, endMs, ofService('storefront')).length;
      same(
        rows.filter(({ labels }) => labels.get('__tenant_id__') === orgId).length,
        own,
        'rows of the first',
      );
      const others = rows.filter(({ labels }) => labels.get('__tenant_id__') === stage.liveOrgId);
      holds(
        others.some((row) => row.line === line),
        'no row of the second',
      );
    },
  },
]);

type TimeForm = (ms: number) => string;

const timeForms: readonly TimeForm[] = [
  (ms) => String(ms / 1000),
  (ms) => String(nanos(ms)),
  (ms) => (ms / 1000).toFixed(3),
  (ms) => (ms / 1000).toExponential(),
  (ms) => new Date(ms).toISOString(),
  (ms) => new Date(ms).toISOString().replace('.000Z', '.000000000Z'),
  (ms) => new Date(ms).toISOString().replace('.000Z', '+00:00'),
];

interface Call {
  readonly path: string;
  readonly pairs: Pairs;
}

function absurdRoutes(): readonly Call[] {
  const query = [['query', store]] as const;
  return [
    { path: 'query_range', pairs: [...query, ['step', '60s']] },
    { path: 'labels', pairs: [] },
    { path: 'series', pairs: [['match', store]] },
    { path: 'index/stats', pairs: query },
    { path: 'index/volume', pairs: query },
    { path: 'index/volume_range', pairs: [...query, ['step', '60s']] },
    { path: 'detected_labels', pairs: query },
    { path: 'detected_fields', pairs: query },
    { path: 'patterns', pairs: [...query, ['step', '60s']] },
  ];
}

function postRoutes(): readonly Call[] {
  const query = [['query', store]] as const;
  return [
    { path: 'query_range', pairs: [...query, ['limit', '10']] },
    {
      path: 'query',
      pairs: [
        ['query', `sum(count_over_time(${store}[1h]))`],
        ['time', '1793491200'],
      ],
    },
    { path: 'labels', pairs: [] },
    { path: 'series', pairs: [['match[]', store]] },
    { path: 'detected_labels', pairs: query },
    { path: 'detected_fields', pairs: query },
    { path: 'detected_field/trace_id/values', pairs: [...query, ['limit', '5']] },
    { path: 'patterns', pairs: query },
    { path: 'index/stats', pairs: query },
    { path: 'index/volume', pairs: query },
    { path: 'index/volume_range', pairs: [...query, ['step', '10m']] },
  ];
}

function rangeOf({ data }: Scene): Pairs {
  const { startMs, endMs } = lastHour(data);
  return [
    ['start', String(nanos(startMs))],
    ['end', String(nanos(endMs))],
  ];
}

async function get(
  { http, orgId }: Scene,
  path: string,
  pairs: Pairs,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return http.send('GET', `${api}/${path}`, {
    query: goQuery(pairs),
    headers: { 'X-Scope-OrgID': orgId, ...headers },
  });
}

async function logs(scene: Scene, pairs: Pairs): Promise<GrafanaAnswer> {
  const reply = await get(scene, 'query_range', pairs);
  same(reply.status, 200, reply.text);
  return readGrafanaAnswer(reply.text);
}

/** A response without its statistics. */
function withoutStats(body: string): unknown {
  const answer = members(json(body, 'an answer'), 'an answer');
  const data = answer.get('data');
  // Label sets have no order.
  if (Array.isArray(data) && typeof data[0] === 'object')
    return [answer.get('status'), data.map(sortedText).sort()];
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return answer;
  return new Map([...answer, ['data', new Map(Object.entries(data).filter(([name]) => name !== 'stats'))]]);
}

function sortedText(item: unknown): string {
  return labelKey(stringMap(item, 'labels'));
}
