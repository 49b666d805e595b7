/** Grafana Logs Drilldown: services, tiles, logs and labels. */
import { holds, list, members, number, present, same, text } from './check.js';
import { fixtureSelector, hourMs, minuteMs } from './demo-data.js';
import { featuresOf, type Scene } from './feature.js';
import { dataOf, Grafana } from './grafana.js';
import type { GrafanaSeries } from './grafana-reader.js';
import type { Pairs } from './http.js';
import {
  between,
  countBy,
  countPoints,
  indexLabels,
  inOrder,
  inWindow,
  lastHour,
  ofService,
  wantedOrder,
} from './oracle.js';

/** The tag of every query of the app. */
export const appTag = 'grafana-lokiexplore-app';

/** A range as the app's own calls write it. */
export function isoRange({ data }: Scene): Pairs {
  const { startMs, endMs } = lastHour(data);
  return [
    ['start', new Date(startMs).toISOString()],
    ['end', new Date(endMs).toISOString()],
  ];
}

export const drilldown = featuresOf('Logs Drilldown', 'Logs Drilldown', [
  {
    feature: 'startup: limits, pattern support, version',
    sends: ['GET drilldown-limits'],
    run: async ({ http, orgId }) => {
      const answer = members(
        await new Grafana(http, orgId).resource('drilldown-limits', [], appTag),
        'answer',
      );
      const limits = members(answer.get('limits'), 'limits');
      holds(
        number(limits.get('max_entries_limit_per_query'), 'max_entries_limit_per_query') > 0,
        'no entries',
      );
      holds(
        /^(\d+(\.\d+)?(ns|us|ms|s|m|h|d|w|y))+$/.test(
          text(limits.get('retention_period'), 'retention_period'),
        ),
        'retention',
      );
      same(answer.get('pattern_ingester_enabled'), true, 'pattern_ingester_enabled');
      text(answer.get('version'), 'version');
    },
  },
  {
    feature: 'services: volume by service, largest first',
    sends: ['GET index/volume'],
    run: async (scene) => {
      const volumes = await volume(scene, '{service_name=~`.+`}');
      const { startMs, endMs } = lastHour(scene.data);
      const services = countBy(between(scene.data, startMs, endMs), ({ service }) => service);
      same(
        new Set(volumes.map(({ labels }) => labels.get('service_name'))),
        new Set(services.keys()),
        'services',
      );
      for (const { labels } of volumes) same([...labels.keys()], ['service_name'], 'labels');
      const values = volumes.map(({ points }) => points[0]?.[1] ?? 0);
      same(
        values,
        [...values].sort((a, b) => b - a),
        'order',
      );
      holds((values[0] ?? 0) > 0, 'no volume');
    },
  },
  {
    feature: 'services: search by a part of the name, case-insensitive, and by another label',
    sends: ['GET index/volume'],
    run: async (scene) => {
      const found = await volume(scene, '{service_name=~`(?i).*CHECK.*`}');
      same(
        found.map(({ labels }) => labels.get('service_name')),
        ['checkout'],
        'found',
      );
      const clusters = await volume(scene, '{cluster=~`.+`, namespace="shop"}');
      for (const { labels } of clusters) same([...labels.keys()].sort(), ['cluster', 'namespace'], 'labels');
      const target = await volume(scene, '{service_name=~`.+`}', [['targetLabels', 'cluster']]);
      for (const { labels } of target) same([...labels.keys()], ['cluster'], 'target labels');
      same(await volume(scene, '{service_name=~`.*nobody.*`}'), [], 'nobody');
    },
  },
  {
    feature: 'a service tile: lines by level and the newest hundred lines',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const range = { ...lastHour(data), stepMs: minuteMs };
      const expr = 'sum by (detected_level) (count_over_time({ service_name="storefront" } [1m]))';
      const { series } = await grafana.query({ expr, ...range, tag: appTag });
      const own = data.entries.filter(ofService('storefront'));
      for (const level of new Set(own.map((entry) => entry.level))) {
        const wanted = countPoints(
          own.filter((entry) => entry.level === level),
          { ...range, windowMs: minuteMs },
        );
        const found = series.find(({ labels }) => labels.get('detected_level') === level)?.points ?? [];
        same(found, wanted, level);
      }
      const { rows } = await grafana.query({
        expr: '{service_name=`storefront` }',
        ...range,
        limit: 100,
        tag: appTag,
      });
      same(
        inOrder(rows, 'backward'),
        wantedOrder(between(data, range.startMs, range.endMs, ofService('storefront')), 'backward').slice(
          0,
          100,
        ),
        'lines',
      );
    },
  },
  {
    feature: 'shard probe: no shards',
    sends: ['GET label/{name}/values'],
    run: async (scene) => {
      const answer = await resource(scene, 'label/__stream_shard__/values', [
        ['query', '{service_name="storefront"}'],
      ]);
      same(answer, { status: 'success' }, 'values');
    },
  },
  {
    feature: 'logs tab: both parsers, unusual spacing, no error labels',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const range = lastHour(data);
      const expr = '{namespace=~".+"}      | json  | logfmt | drop __error__, __error_details__  ';
      const { rows } = await new Grafana(http, orgId).query({ expr, ...range, limit: 200, tag: appTag });
      same(
        inOrder(rows, 'backward'),
        wantedOrder(between(data, range.startMs, range.endMs), 'backward').slice(0, 200),
        'lines',
      );
      for (const { labels } of rows) holds(!labels.has('__error__'), 'an error label is left');
    },
  },
  {
    feature: 'counts over the whole time range',
    sends: ['GET query'],
    run: async ({ http, orgId, data }) => {
      const { endMs } = lastHour(data);
      const expr =
        'sum(count_over_time({service_name="checkout"}      | json  | logfmt | drop __error__, __error_details__  [3600s]))';
      const { series } = await new Grafana(http, orgId).query({ expr, endMs, tag: appTag });
      const wanted = inWindow(data, endMs, hourMs, ofService('checkout')).length;
      same(
        series.map(({ points }) => points[0]?.[1]),
        [wanted],
        'count',
      );
    },
  },
  {
    feature: 'labels tab: labels with their cardinality, with and without a query, and a panel for each',
    sends: ['GET detected_labels', 'GET query_range'],
    run: async (scene) => {
      const { http, orgId, data } = scene;
      const range = { ...lastHour(data), stepMs: 5 * minuteMs };
      const entries = between(data, range.startMs, range.endMs);
      for (const [query, own] of [
        ['', entries],
        ['{service_name="storefront"}', entries.filter(ofService('storefront'))],
      ] as const) {
        const answer = members(
          await resource(scene, 'detected_labels', query === '' ? [] : [['query', query]]),
          'answer',
        );
        const found = list(answer.get('detectedLabels'), 'detectedLabels').map((item) => {
          const label = members(item, 'a label');
          return [
            text(label.get('label'), 'label'),
            number(label.get('cardinality'), 'cardinality'),
          ] as const;
        });
        const values = new Map<string, Set<string>>();
        for (const entry of own) {
          for (const [name, value] of indexLabels(entry))
            values.set(name, (values.get(name) ?? new Set()).add(value));
        }
        same(
          [...found].sort(),
          [...values].map(([name, set]) => [name, set.size] as const).sort(),
          `labels of ${query}`,
        );
      }
      const expr =
        'sum(count_over_time({service_name="storefront" ,pod != ""}      | json  | logfmt | drop __error__, __error_details__  [5m])) by (pod)';
      const { series } = await new Grafana(http, orgId).query({ expr, ...range, tag: appTag });
      same(
        series.length,
        new Set(entries.filter(ofService('storefront')).map(({ labels }) => labels['pod'])).size,
        'pods',
      );
    },
  },
  {
    feature: 'level filter works without a stored level',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const range = lastHour(data);
      const expr = '{service_name="storefront"}   | detected_level=`error` or detected_level=`warn`  | json';
      const { rows } = await new Grafana(http, orgId).query({ expr, ...range, limit: 1_000, tag: appTag });
      const wanted = between(data, range.startMs, range.endMs, ofService('storefront')).filter(
        ({ level }) => level === 'error' || level === 'warn',
      );
      holds(wanted.length > 0, 'the data has no such lines');
      same(inOrder(rows, 'backward'), wantedOrder(wanted, 'backward'), 'lines');
    },
  },
  {
    feature:
      "too many series: the first ones and a notice if the request is tagged as Drilldown's, otherwise an error",
    notOnLoki: 'the limit is part of its configuration',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data, stage }) => {
      const limited = http.at(await stage.proxyUrl({ 'max-stats-query-series': '3' }));
      const grafana = new Grafana(limited, orgId);
      const query = {
        expr: `sum by (order_id) (count_over_time({service_name="checkout"} | logfmt | order_id!="" [5m]))`,
        ...lastHour(data),
        stepMs: 5 * minuteMs,
      };
      const partial = await grafana.query({ ...query, tag: appTag });
      same(partial.series.length, 3, 'series');
      same(
        partial.notices,
        ['maximum number of series (3) reached for a single query; returning partial results'],
        'notices',
      );
      const shown = await grafana.failure(query);
      holds(shown.startsWith('maximum number of series (3) reached for a single query'), `shown: ${shown}`);
    },
  },
  {
    feature: "Drilldown's tag is recognized in any letter case and among other tags",
    notOnLoki: 'the limit is part of its configuration',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data, stage }) => {
      const limited = new Grafana(http.at(await stage.proxyUrl({ 'max-stats-query-series': '3' })), orgId);
      const expr = `sum by (trace_id) (count_over_time(${fixtureSelector}[1h]))`;
      const query = { expr, ...lastHour(data), stepMs: 10 * minuteMs };
      for (const tag of ['Grafana-LokiExplore-App', 'x,foo=bar,Source=grafana-lokiexplore-app']) {
        const { series, notices } = await limited.query({ ...query, tag });
        same([series.length, notices.length], [3, 1], tag);
      }
    },
  },
]);

/** Sends a resource call of the app, with its range. */
export async function resource(scene: Scene, path: string, pairs: Pairs): Promise<unknown> {
  return new Grafana(scene.http, scene.orgId).resource(path, [...pairs, ...isoRange(scene)], appTag);
}

async function volume(scene: Scene, query: string, more: Pairs = []): Promise<readonly GrafanaSeries[]> {
  const answer = await resource(scene, 'index/volume', [['query', query], ['limit', '5000'], ...more]);
  const data = members(dataOf(answer, 'index/volume'), 'data');
  same(data.get('resultType'), 'vector', 'resultType');
  return list(data.get('result'), 'result').map((item) => {
    const sample = members(item, 'a sample');
    const labels = new Map(
      [...members(sample.get('metric'), 'metric')].map(([name, value]) => [name, text(value, name)]),
    );
    const [seconds, value] = list(sample.get('value'), 'value');
    const decimal = text(present(value, 'the value'), 'the value');
    holds(/^\d+$/.test(decimal), `a volume of ${decimal}`);
    return { labels, points: [[number(seconds, 'time'), Number(decimal)]] };
  });
}
