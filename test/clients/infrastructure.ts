/** Direct requests of users and of Grafana's data source proxy: versions, health, formatting. */
import { holds, json, members, same, text } from './check.js';
import { featuresOf } from './feature.js';
import { goQuery } from './http.js';

const api = '/loki/api/v1';

export const infrastructure = featuresOf('Data source proxy', 'Grafana data source', [
  {
    feature: 'build information',
    notOnLoki: 'builds from source have no version',
    sends: ['GET status/buildinfo'],
    run: async ({ http }) => {
      const reply = await http.send('GET', `${api}/status/buildinfo`, {});
      same(reply.status, 200, 'status');
      const info = members(json(reply.text, 'buildinfo'), 'buildinfo');
      for (const name of ['version', 'revision', 'branch', 'buildUser', 'buildDate', 'goVersion'])
        text(info.get(name), name);
      holds(/^\d+\.\d+\.\d+/.test(text(info.get('version'), 'version')), 'version');
    },
  },
  {
    feature: 'format_query: the formatted query, or its syntax error',
    sends: ['GET format_query'],
    run: async ({ http, orgId }) => {
      const headers = { 'X-Scope-OrgID': orgId };
      const ask = async (query: string): Promise<readonly [number, ReadonlyMap<string, unknown>]> => {
        const reply = await http.send('GET', `${api}/format_query`, {
          query: goQuery([['query', query]]),
          headers,
        });
        return [reply.status, members(json(reply.text, 'format_query'), 'format_query')];
      };
      const [status, answer] = await ask('{a="b"}|json|c="d"');
      same(
        [status, answer.get('status'), answer.get('data')],
        [200, 'success', '{a="b"} | json | c="d"'],
        'formatted',
      );
      const [refused, problem] = await ask('{a="b"');
      same([refused, problem.get('status')], [400, 'invalid-query'], 'refused');
      holds(text(problem.get('error'), 'error').includes('parse error'), 'error');
    },
  },
  {
    feature: 'readiness, for load balancers',
    sends: ['GET /ready'],
    run: async ({ http }) => {
      const reply = await http.send('GET', '/ready', {});
      same([reply.status, reply.text.trim()], [200, 'ready'], 'ready');
    },
  },
]);
