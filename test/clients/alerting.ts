/** Grafana Alerting with the data source, and its pages for the rules of the data source. */
import { parse } from 'yaml';
import { ClientFailure, holds, list, members, present, same, text } from './check.js';
import { hourMs } from './demo-data.js';
import { featuresOf } from './feature.js';
import { Grafana, shownMessage } from './grafana.js';
import { inWindow, ofService } from './oracle.js';
import { knownGroups, slashed, withRules } from './rules-service.js';

const proxied = { 'User-Agent': 'Grafana/13.1.0', 'Accept-Encoding': 'gzip' } as const;

export const alerting = featuresOf('Grafana Alerting', 'Grafana data source', [
  {
    feature: 'an alert rule: an instant query returns one number for each series',
    sends: ['GET query'],
    run: async ({ http, orgId, data }) => {
      const expr = 'sum by (cluster) (count_over_time({service_name="storefront"} |= "error" [1h]))';
      const { series, resultType } = await new Grafana(http, orgId).query({ expr, endMs: data.endMs });
      same(resultType, 'vector', 'resultType');
      const errors = inWindow(data, data.endMs, hourMs, ofService('storefront')).filter(({ line }) =>
        line.includes('error'),
      );
      for (const { labels, points } of series) {
        const wanted = errors.filter((entry) => entry.labels['cluster'] === labels.get('cluster')).length;
        same(points, [[data.endMs / 1000, wanted]], String(labels.get('cluster')));
      }
      same(series.length, new Set(errors.map(({ labels }) => labels['cluster'])).size, 'series');
    },
  },
  {
    feature: 'an alert rule with a comparison: only series that match; no series means NoData',
    sends: ['GET query'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const expr = 'sum by (service_name) (count_over_time({service_name=~".+"}[1h]))';
      const all = await grafana.query({ expr, endMs: data.endMs });
      const values = all.series.map(({ points }) => points[0]?.[1] ?? 0).sort((a, b) => b - a);
      const bound = present(values[1], 'a second service');
      const above = await grafana.query({ expr: `${expr} > ${bound}`, endMs: data.endMs });
      same(
        above.series.map(({ points }) => points[0]?.[1]),
        [values[0]],
        'above',
      );
      const none = await grafana.query({ expr: `${expr} > 1000000`, endMs: data.endMs });
      same([none.resultType, none.series, none.notices], ['vector', [], []], 'NoData');
    },
  },
  {
    feature: 'a classic alert rule: a range query that Grafana reduces',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const expr = 'sum(rate({service_name="checkout"} |= "payment error" [5m]))';
      const range = { startMs: data.endMs - 10 * 60_000, endMs: data.endMs, stepMs: 60_000 };
      const { series, resultType } = await new Grafana(http, orgId).query({ expr, ...range });
      same(resultType, 'matrix', 'resultType');
      for (const [, value] of series[0]?.points ?? [])
        holds(Number.isFinite(value) && value > 0, `a value of ${value}`);
    },
  },
  {
    feature: 'rules and alerts pages without a rules backend: empty lists, no error',
    notOnLoki: 'it evaluates rules itself',
    sends: ['GET /prometheus/api/v1/rules', 'GET /prometheus/api/v1/alerts', 'GET /api/prom/rules'],
    run: async ({ http, orgId }) => {
      const headers = { ...proxied, 'X-Scope-OrgID': orgId };
      for (const name of ['rules', 'alerts'] as const) {
        const reply = await http.send('GET', `/prometheus/api/v1/${name}`, { headers });
        const answer = members(JSON.parse(reply.text), name);
        const wanted = { [name === 'rules' ? 'groups' : 'alerts']: [] };
        same([reply.status, answer.get('status'), answer.get('data')], [200, 'success', wanted], name);
      }
      const yaml = await http.send('GET', '/api/prom/rules', { headers });
      holds(
        yaml.status === 404 || (yaml.status === 200 && members(parse(yaml.text), 'rules').size === 0),
        `rules: ${yaml.text}`,
      );
    },
  },
  {
    feature: "Grafana's probe test/test fails with a text that it knows, with and without a rules backend",
    notOnLoki: 'it evaluates rules itself',
    sends: ['GET /api/prom/rules/{namespace}/{group}'],
    run: async ({ http, orgId, stage }) => {
      const headers = { ...proxied, 'X-Scope-OrgID': orgId };
      await withRules(stage, async (url) => {
        for (const one of [http, http.at(url)]) {
          const reply = await one.send('GET', '/api/prom/rules/test/test', { headers });
          same(reply.status, 404, 'status');
          holds(
            /page not found|GetRuleGroup unsupported in rule local store/.test(shownMessage(reply.text)),
            reply.text,
          );
        }
      });
    },
  },
  {
    feature: 'rules pages with a rules backend: groups as JSON, namespaces as YAML',
    notOnLoki: 'it evaluates rules itself',
    sends: [
      'GET /prometheus/api/v1/rules',
      'GET /prometheus/api/v1/alerts',
      'GET /api/prom/rules',
      'GET /api/prom/rules/{namespace}',
      'GET /api/prom/rules/{namespace}/{group}',
    ],
    run: async ({ http, orgId, stage }) => {
      const headers = { ...proxied, 'X-Scope-OrgID': orgId };
      await withRules(stage, async (url) => {
        const get = async (path: string): Promise<string> => {
          const reply = await http.at(url).send('GET', path, { headers });
          if (reply.status !== 200) throw new ClientFailure(`${path}: ${reply.status} ${reply.text}`);
          return reply.text;
        };
        const rules = members(
          members(JSON.parse(await get('/prometheus/api/v1/rules')), 'rules').get('data'),
          'data',
        );
        const groups = list(rules.get('groups'), 'groups').map((group) =>
          text(members(group, 'group').get('name'), 'name'),
        );
        same(
          groups,
          knownGroups.map(({ name }) => name),
          'groups',
        );
        const alerts = members(
          members(JSON.parse(await get('/prometheus/api/v1/alerts')), 'alerts').get('data'),
          'data',
        );
        holds(list(alerts.get('alerts'), 'alerts').length > 0, 'no alerts');
        const all = members(parse(await get('/api/prom/rules')), 'namespaces');
        same([...all.keys()].sort(), [...new Set(knownGroups.map(({ file }) => file))].sort(), 'namespaces');
        const own = members(
          parse(await get(`/api/prom/rules/${encodeURIComponent(slashed.namespace)}`)),
          'a namespace',
        );
        same([...own.keys()], [slashed.namespace], 'one namespace');
        const path = `/api/prom/rules/${encodeURIComponent(slashed.group.file)}/${encodeURIComponent(slashed.group.name)}`;
        const group = members(parse(await get(path)), 'a group');
        same(group.get('name'), slashed.group.name, 'one group');
        same(list(group.get('rules'), 'rules').length, slashed.group.rules.length, 'rules');
      });
    },
  },
]);
