/** Error messages that users see, response compression, and endpoints that are not served. */
import { holds, json, members, present, same } from './check.js';
import { hourMs, nanos } from './demo-data.js';
import { featuresOf } from './feature.js';
import { Grafana, shownMessage } from './grafana.js';
import { checkGrafanaAnswer } from './grafana-reader.js';
import { goQuery } from './http.js';
import { lastHour } from './oracle.js';
import { withSilentBackend } from './silent-backend.js';

const api = '/loki/api/v1';

export const errors = featuresOf('Every client', 'Common to every client', [
  {
    feature: "errors have Loki's text, in one sentence",
    sends: ['GET query', 'GET query_range', 'GET index/stats', 'GET index/volume', 'GET index/volume_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const range = lastHour(data);
      const sentences: readonly (readonly [Parameters<Grafana['failure']>[0], RegExp])[] = [
        [
          { expr: '{a="b"', ...range, limit: 1 },
          /^parse error at line 1, col 7: syntax error: unexpected \$end/,
        ],
        [{ expr: '{a=~"("}', ...range, limit: 1 }, /error parsing regexp: missing closing \): `.*\(.*`/],
        [
          { expr: '{a=~".*"}', ...range, limit: 1 },
          /^parse error : queries require at least one regexp or equality matcher/,
        ],
        [
          { expr: '{a="b"}', ...range, limit: 6_000 },
          /^max entries limit per query exceeded, limit > max_entries_limit_per_query \(6000 > 5000\)$/,
        ],
        [
          { expr: '{a="b"}', endMs: range.endMs, limit: 1 },
          /^log queries are not supported as an instant query type, please change your query to a range query type$/,
        ],
        [
          { expr: '{a="b"}', startMs: range.endMs, endMs: range.startMs, stepMs: 1_000, limit: 1 },
          /^end timestamp must not be before or equal to start time$/,
        ],
        [
          { expr: 'rate({a="b"}[1m])', ...range, stepMs: 1 },
          /^exceeded maximum resolution of 11,000 points per time series/,
        ],
      ];
      for (const [query, wanted] of sentences) {
        const shown = await grafana.failure(query);
        holds(wanted.test(shown.trim()), `${query.expr} shows: ${shown}`);
      }
      for (const path of ['index/stats', 'index/volume', 'index/volume_range']) {
        const shown = await grafana.resourceFailure(path, [['query', '{a="b"} | json']]);
        same(shown.trim(), 'only label matchers are supported', path);
      }
    },
  },
  {
    feature: 'a query that takes too long fails with a timeout, which makes Grafana retry once',
    notOnLoki: 'it has no backend that could be silent',
    sends: ['GET query_range', 'GET query'],
    run: async ({ http, orgId, data, stage }) => {
      await withSilentBackend(async (backend) => {
        const grafana = new Grafana(
          http.at(await stage.proxyUrl({ backend, 'backend-timeout': '50ms' })),
          orgId,
        );
        const expr = 'rate({a="b"}[1m])';
        for (const query of [
          { expr: '{a="b"}', ...lastHour(data), limit: 10 },
          { expr, endMs: data.endMs },
        ]) {
          const shown = await grafana.failure(query);
          holds(/timeout|timed out/.test(shown), `${query.expr} shows: ${shown}`);
        }
      });
    },
  },
  {
    feature: 'invalid limits are refused',
    sends: ['GET query_range', 'GET index/volume', 'GET detected_fields'],
    run: async ({ http, orgId }) => {
      for (const path of ['query_range', 'index/volume', 'detected_fields']) {
        for (const limit of ['-1', '0']) {
          if (path === 'index/volume' && limit === '0') continue;
          const query = goQuery([
            ['query', '{a="b"}'],
            ['limit', limit],
          ]);
          const reply = await http.send('GET', `${api}/${path}`, {
            query,
            headers: { 'X-Scope-OrgID': orgId },
          });
          same(
            [reply.status, shownMessage(reply.text).trim()],
            [400, 'limit must be a positive value'],
            `${path} ${limit}`,
          );
        }
      }
    },
  },
  {
    feature: 'unknown paths return a 404 in plain text, pushes return 405',
    notOnLoki: 'it takes what is pushed',
    sends: ['GET nowhere', 'GET push', 'POST push'],
    run: async ({ http, orgId }) => {
      const headers = { 'X-Scope-OrgID': orgId };
      const unknown = await http.send('GET', `${api}/nowhere`, { headers });
      same([unknown.status, unknown.text.trim()], [404, '404 page not found'], 'unknown path');
      holds(String(unknown.headers['content-type']).startsWith('text/plain'), 'type of 404');
      same((await http.send('GET', `${api}/push`, { headers })).status, 405, 'GET push');
      const body = '{"streams":[]}';
      const json = { ...headers, 'content-type': 'application/json' };
      same((await http.send('POST', `${api}/push`, { headers: json, body })).status, 405, 'POST push');
    },
  },
  {
    feature: 'a missing tenant returns 401 with an explanation',
    sends: ['GET labels', 'GET query_range'],
    run: async ({ http, stage }) => {
      const strict = http.at(await stage.proxyUrl({ 'auth.enabled': 'true' }));
      for (const path of ['labels', 'query_range']) {
        const reply = await strict.send('GET', `${api}/${path}`, { query: goQuery([['query', '{a="b"}']]) });
        same(reply.status, 401, path);
        holds(
          shownMessage(reply.text).length > 0 && !shownMessage(reply.text).startsWith('{'),
          `shown: ${reply.text}`,
        );
      }
    },
  },
  {
    feature: 'gzip only if the client accepts it, with the same content',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const pairs = [
        ['query', '{namespace=~".+"}'],
        ['limit', '1000'],
        ['start', String(nanos(data.endMs - hourMs))],
        ['end', String(nanos(data.endMs))],
      ] as const;
      const sizes = new Map<string, number>();
      const lines = new Set<string>();
      for (const [encoding, wanted] of [
        ['gzip', 'gzip'],
        ['gzip, deflate, br', 'gzip'],
        ['identity', undefined],
        ['br', undefined],
        [undefined, undefined],
      ] as const) {
        const headers = {
          'X-Scope-OrgID': orgId,
          ...(encoding === undefined ? {} : { 'Accept-Encoding': encoding }),
        };
        const reply = await http.send('GET', `${api}/query_range`, { query: goQuery(pairs), headers });
        same(
          [reply.status, reply.headers['content-encoding']],
          [200, wanted],
          `Accept-Encoding: ${encoding ?? 'none'}`,
        );
        holds(String(reply.headers['content-type']).startsWith('application/json'), 'type of an answer');
        sizes.set(encoding ?? 'none', reply.wireBytes);
        lines.add(
          JSON.stringify(
            checkGrafanaAnswer(reply.text, { isCategorized: false }).rows.map(({ line }) => line),
          ),
        );
      }
      same(lines.size, 1, 'different answers');
      holds(
        present(sizes.get('gzip'), 'gzip') * 3 < present(sizes.get('identity'), 'identity'),
        'gzip saves little',
      );
    },
  },
  {
    feature: 'a client that accepts protobuf gets JSON, which all of them can read',
    sends: ['GET query'],
    run: async ({ http, orgId }) => {
      const headers = { 'X-Scope-OrgID': orgId, Accept: 'application/vnd.google.protobuf, application/json' };
      const query = goQuery([['query', 'vector(1)']]);
      const reply = await http.send('GET', `${api}/query`, { query, headers });
      holds(String(reply.headers['content-type']).startsWith('application/json'), 'type of an answer');
      same(members(json(reply.text, 'query'), 'query').get('status'), 'success', 'status');
    },
  },
  {
    feature: "empty answers have Loki's form: data with an empty result, or no list of names",
    sends: [
      'GET query',
      'GET query_range',
      'GET labels',
      'GET label/{name}/values',
      'GET series',
      'GET index/volume',
    ],
    run: async ({ http, orgId, data }) => {
      const none = '{service_name="nobody"}';
      const range = [
        ['start', String(nanos(data.endMs - hourMs))],
        ['end', String(nanos(data.endMs))],
      ] as const;
      const get = async (path: string, pairs: Parameters<typeof goQuery>[0]): Promise<unknown> => {
        const reply = await http.send('GET', `${api}/${path}`, {
          query: goQuery(pairs),
          headers: { 'X-Scope-OrgID': orgId },
        });
        same(reply.status, 200, `${path}: ${reply.text}`);
        return json(reply.text, path);
      };
      const result = async (path: string, pairs: Parameters<typeof goQuery>[0]): Promise<unknown> =>
        members(members(await get(path, pairs), path).get('data'), 'data').get('result');
      same(await result('query_range', [['query', none], ...range]), [], 'streams');
      same(await result('query_range', [['query', `rate(${none}[1m])`], ...range]), [], 'matrix');
      same(await result('query', [['query', `rate(${none}[1m])`]]), [], 'vector');
      same(await result('index/volume', [['query', none], ...range]), [], 'volume');
      same(await get('labels', [['query', none], ...range]), { status: 'success' }, 'labels');
      same(await get('label/pod/values', [['query', none], ...range]), { status: 'success' }, 'values');
      same(await get('series', [['match', none], ...range]), { status: 'success', data: [] }, 'series');
    },
  },
]);
