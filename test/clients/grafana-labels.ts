/** Grafana's data source: label browser, query builder, autocomplete, ad hoc filters, template variables. */
import { holds, list, members, number, present, same, stringMap, strings } from './check.js';
import { fixtureSelector, hourMs, oddLabels } from './demo-data.js';
import { featuresOf, type Scene } from './feature.js';
import { dataOf, Grafana, metadataRange } from './grafana.js';
import { labelKey } from './grafana-reader.js';
import {
  between,
  indexLabels,
  inOrder,
  inWindow,
  lastHour,
  ofService,
  wantedOrder,
  type Wanted,
} from './oracle.js';
import type { Pairs } from './http.js';

export const grafanaLabels = featuresOf('Grafana data source', 'Grafana data source', [
  {
    feature: 'label browser: sorted names of indexed labels only',
    sends: ['GET labels'],
    run: async (scene) => {
      same(await names(scene, 'labels', []), wantedNames(scene), 'names');
      const query = [['query', '{service_name="checkout"}']] as const;
      same(
        await names(scene, 'labels', query),
        wantedNames(scene, ofService('checkout')),
        'names of checkout',
      );
    },
  },
  {
    feature: 'label browser: values, with and without a selector',
    sends: ['GET label/{name}/values'],
    run: async (scene) => {
      same(
        await names(scene, 'label/service_name/values', []),
        wantedValues(scene, 'service_name'),
        'services',
      );
      const query = [['query', '{namespace="shop", pod=~"checkout.+"}']] as const;
      const wanted = wantedValues(scene, 'pod', ofService('checkout'));
      same(await names(scene, 'label/pod/values', query), wanted, 'pods of checkout');
    },
  },
  {
    feature: 'values of unknown labels, and of names that need encoding: an empty list, no error',
    sends: ['GET label/{name}/values'],
    run: async ({ http, orgId, data }) => {
      const { startMs, endMs } = lastHour(data);
      const grafana = new Grafana(http, orgId);
      for (const name of ['nowhere', 'a b', 'ünï', '100%']) {
        const answer = await grafana.resource(
          `label/${encodeURIComponent(name)}/values`,
          metadataRange(startMs, endMs),
        );
        same(answer, { status: 'success' }, name);
      }
    },
  },
  {
    feature: 'parsed labels and structured metadata are absent from label names, label values and series',
    sends: ['GET labels', 'GET label/{name}/values', 'GET series'],
    run: async (scene) => {
      const { http, orgId, data } = scene;
      const { startMs, endMs } = lastHour(data);
      const perLine = [
        'detected_level',
        'level',
        'trace_id',
        'user_id',
        'http_route',
        'worker',
        '__stream_shard__',
      ];
      const all = await names(scene, 'labels', []);
      same(
        all.filter((name) => perLine.includes(name)),
        [],
        'names',
      );
      const grafana = new Grafana(http, orgId);
      const values = await grafana.resource('label/detected_level/values', metadataRange(startMs, endMs));
      same(values, { status: 'success' }, 'values of detected_level');
      const pairs = [['match[]', '{namespace="shop"}'], ...metadataRange(startMs, endMs)] as const;
      for (const item of list(dataOf(await grafana.resource('series', pairs), 'series'), 'series')) {
        same(
          perLine.filter((name) => members(item, 'series').has(name)),
          [],
          'labels of a series',
        );
      }
    },
  },
  {
    feature: 'values with quotes, braces, backslashes and URL characters can be listed and selected',
    sends: ['GET label/{name}/values', 'GET series', 'GET query_range'],
    run: async (scene) => {
      const { http, orgId, data } = scene;
      const grafana = new Grafana(http, orgId);
      for (const name of ['service_name', 'path', 'team'] as const) {
        const value = oddLabels[name];
        holds((await names(scene, `label/${name}/values`, [])).includes(value), `value of ${name}`);
        const selector = `{${name}=${JSON.stringify(value)}}`;
        same(await names(scene, 'label/team/values', [['query', selector]]), [oddLabels.team], selector);
        const { startMs, endMs } = lastHour(data);
        const pairs = [['match[]', selector], ...metadataRange(startMs, endMs)] as const;
        same(dataOf(await grafana.resource('series', pairs), 'series'), [{ ...oddLabels }], selector);
        const { rows } = await grafana.query({ expr: selector, startMs, endMs, limit: 10 });
        const wanted = between(data, startMs, endMs, ({ labels }) => labels === oddLabels);
        same(
          rows.map(({ line }) => line),
          wanted.map(({ line }) => line),
          selector,
        );
        const [row] = rows;
        same(row?.labels.get('note'), wanted[0]?.metadata['note'], 'metadata');
        same(row?.labels.get(name), value, name);
      }
    },
  },
  {
    feature: 'series of a selector, for facets and for Grafana before 11.5',
    sends: ['GET series'],
    run: async ({ http, orgId, data }) => {
      const { startMs, endMs } = lastHour(data);
      const pairs = [['match[]', '{service_name="storefront"}'], ...metadataRange(startMs, endMs)] as const;
      const answer = await new Grafana(http, orgId).resource('series', pairs);
      const series = list(dataOf(answer, 'series'), 'series').map((item) =>
        labelKey(stringMap(item, 'series')),
      );
      const wanted = between(data, startMs, endMs, ofService('storefront')).map((entry) =>
        labelKey(indexLabels(entry)),
      );
      same([...series].sort(), [...new Set(wanted)].sort(), 'series');
    },
  },
  {
    feature: 'size hint while a query is typed; zeros if nothing matches',
    notOnLoki: 'it counts what has reached its index',
    sends: ['GET index/stats'],
    run: async ({ http, orgId, data }) => {
      const { startMs, endMs } = lastHour(data);
      const grafana = new Grafana(http, orgId);
      const stats = async (query: string): Promise<readonly number[]> => {
        const answer = await grafana.resource('index/stats', [
          ['query', query],
          ...metadataRange(startMs, endMs),
        ]);
        const fields = members(answer, 'index/stats');
        return ['streams', 'chunks', 'bytes', 'entries'].map((name) => number(fields.get(name), name));
      };
      const [streams, chunks, bytes, entries] = await stats(fixtureSelector);
      const wanted = between(data, startMs, endMs, ofService('fixture')).length;
      same([streams, entries], [1, wanted], 'streams and entries');
      holds((chunks ?? 0) > 0 && (bytes ?? 0) > 0, 'no chunks or no bytes');
      same(await stats('{service_name="nobody"}'), [0, 0, 0, 0], 'stats of nothing');
    },
  },
  {
    feature: 'an invalid selector is explained in the label browser and the size hint',
    sends: ['GET labels', 'GET series', 'GET index/stats'],
    run: async ({ http, orgId, data }) => {
      const { startMs, endMs } = lastHour(data);
      const grafana = new Grafana(http, orgId);
      const range = metadataRange(startMs, endMs);
      const shown = await grafana.resourceFailure('series', [['match[]', '{a="b'], ...range]);
      holds(/parse error|syntax error/.test(shown), `series: ${shown}`);
      const ofLabels = await grafana.resourceFailure('labels', [['query', '{a=}'], ...range]);
      holds(/parse error|syntax error/.test(ofLabels), `labels: ${ofLabels}`);
      const ofStats = await grafana.resourceFailure('index/stats', [['query', '{a="b"} |= "c"'], ...range]);
      same(ofStats, 'only label matchers are supported', 'index/stats');
    },
  },
]);

export const grafanaVariables = featuresOf('Dashboard variables', 'Grafana data source', [
  {
    feature: "label_names() and ad hoc filter names use the dashboard's range",
    sends: ['GET labels'],
    run: async (scene) => same(await names(scene, 'labels', []), wantedNames(scene), 'names'),
  },
  {
    feature: 'label_values(cluster)',
    sends: ['GET label/{name}/values'],
    run: async (scene) => {
      same(await names(scene, 'label/cluster/values', []), wantedValues(scene, 'cluster'), 'clusters');
    },
  },
  {
    feature: 'label_values({selector}, pod) depends on earlier variables',
    sends: ['GET label/{name}/values'],
    run: async (scene) => {
      const pairs = [['query', '{cluster=~"(eu-west-1|us-east-1)",service_name="storefront"}']] as const;
      const wanted = wantedValues(scene, 'pod', ofService('storefront'));
      same(await names(scene, 'label/pod/values', pairs), wanted, 'pods');
    },
  },
  {
    feature: 'a variable with more than a hundred values in the selector of every panel',
    sends: [
      'GET query_range',
      'GET query',
      'GET labels',
      'GET series',
      'GET index/stats',
      'GET index/volume',
    ],
    run: async (scene) => {
      const { http, orgId, data } = scene;
      const grafana = new Grafana(http, orgId);
      const range = lastHour(data);
      const others = Array.from(
        { length: 150 },
        (_value, index) => `service-${String(index).padStart(4, '0')}`,
      );
      const selector = `{service_name=~"(${[...others, 'checkout'].join('|')})"}`;
      const wanted = between(data, range.startMs, range.endMs, ofService('checkout'));
      const { rows } = await grafana.query({ expr: selector, ...range, limit: 1_000 });
      same(inOrder(rows, 'backward'), wantedOrder(wanted, 'backward'), 'lines');
      const expr = `sum by (service_name) (count_over_time(${selector}[1h]))`;
      const { series } = await grafana.query({ expr, endMs: range.endMs });
      same(
        series.map(({ labels, points }) => [labels.get('service_name'), points[0]?.[1]]),
        [['checkout', inWindow(data, range.endMs, hourMs, ofService('checkout')).length]],
        'count',
      );
      const query = [['query', selector]] as const;
      same(await names(scene, 'labels', query), wantedNames(scene, ofService('checkout')), 'names');
      const metadata = metadataRange(range.startMs, range.endMs);
      const found = dataOf(await grafana.resource('series', [['match[]', selector], ...metadata]), 'series');
      const streams = new Set(wanted.map((entry) => labelKey(indexLabels(entry))));
      same(list(found, 'series').length, streams.size, 'series');
      const stats = members(await grafana.resource('index/stats', [...query, ...metadata]), 'index/stats');
      same(stats.get('entries'), wanted.length, 'entries');
      const volume = dataOf(await grafana.resource('index/volume', [...query, ...metadata]), 'index/volume');
      same(list(members(volume, 'volume').get('result'), 'result').length, 1, 'volumes');
    },
  },
  {
    feature: 'ad hoc filters: values depend on the filters that are set',
    sends: ['GET label/{name}/values'],
    run: async (scene) => {
      const pairs = [['query', '{namespace="shop",service_name!="storefront"}']] as const;
      const isOther: Wanted = ({ service, labels }) =>
        service !== 'storefront' && labels['namespace'] === 'shop';
      same(
        await names(scene, 'label/service_name/values', pairs),
        wantedValues(scene, 'service_name', isOther),
        'services',
      );
    },
  },
]);

async function names({ http, orgId, data }: Scene, path: string, pairs: Pairs): Promise<readonly string[]> {
  const { startMs, endMs } = lastHour(data);
  const answer = await new Grafana(http, orgId).resource(path, [...pairs, ...metadataRange(startMs, endMs)]);
  return strings(dataOf(answer, path), path);
}

function wantedNames({ data }: Scene, wanted?: Wanted): readonly string[] {
  const { startMs, endMs } = lastHour(data);
  const all = between(data, startMs, endMs, wanted).flatMap((entry) => [...indexLabels(entry).keys()]);
  return [...new Set(all)].sort();
}

function wantedValues({ data }: Scene, name: string, wanted?: Wanted): readonly string[] {
  const { startMs, endMs } = lastHour(data);
  const all = between(data, startMs, endMs, wanted).flatMap((entry) => indexLabels(entry).get(name) ?? []);
  holds(present(all[0], `an entry with ${name}`) !== '', 'no value');
  return [...new Set(all)].sort();
}
