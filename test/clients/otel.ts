/** Grafana over OpenTelemetry logs: names are stored with dots and shown with underscores. */
import { holds, list, members, present, same, strings, text } from './check.js';
import { hourMs, minuteMs } from './demo-data.js';
import { appTag } from './drilldown.js';
import { featuresOf, type Scene } from './feature.js';
import { dataOf, Grafana, metadataRange } from './grafana.js';
import type { Pairs } from './http.js';

const streamFields = ['service.name', 'k8s.pod.name', 'k8s.namespace.name', 'telemetry.sdk.name'];
const selector = '{service_name="otel-shop"}';
const notOnLoki = 'it is sent rows of VictoriaLogs';

export const otel = featuresOf('Grafana over OpenTelemetry', 'Query envelope (query, query_range)', [
  {
    feature: 'label browser: names with underscores, and only those that Loki would index',
    notOnLoki,
    sends: ['GET labels', 'GET label/{name}/values'],
    run: async (scene) => {
      const { grafana, range } = await open(scene);
      const query = [['query', selector], ...range] as const;
      const names = strings(dataOf(await grafana.resource('labels', query), 'labels'), 'labels');
      same(names, ['k8s_namespace_name', 'k8s_pod_name', 'service_name'], 'names');
      const pods = dataOf(await grafana.resource('label/k8s_pod_name/values', query), 'values');
      same(pods, ['pod-0', 'pod-1'], 'pods');
    },
  },
  {
    feature:
      'logs: attributes are structured metadata, the severity determines the level, and both work as filters',
    notOnLoki,
    sends: ['GET query_range'],
    run: async (scene) => {
      const { grafana, startMs, endMs } = await open(scene);
      const { rows } = await grafana.query({ expr: `${selector} |= "line 1"`, startMs, endMs, limit: 10 });
      same(
        rows.map(({ line }) => line),
        ['line 1'],
        'lines',
      );
      const { labels, types } = present(rows[0], 'a row');
      const wanted: readonly (readonly [string, string, string])[] = [
        ['service_name', 'otel-shop', 'I'],
        ['k8s_pod_name', 'pod-1', 'I'],
        ['http_route', '/cart', 'S'],
        ['severity_text', 'ERROR', 'S'],
        ['trace_id', 'trace-1', 'S'],
        ['telemetry_sdk_name', 'opentelemetry', 'S'],
        ['detected_level', 'error', 'S'],
      ];
      for (const [name, value, type] of wanted)
        same([labels.get(name), types.get(name)], [value, type], name);
      for (const [name, value] of labels) {
        const quoted = JSON.stringify(value);
        const clicked =
          types.get(name) === 'I'
            ? `{service_name="otel-shop", ${name}=${quoted}} |= "line 1"`
            : `${selector} | ${name}=${quoted} |= "line 1"`;
        const again = await grafana.query({ expr: clicked, startMs, endMs, limit: 10 });
        same(
          again.rows.map(({ line }) => line),
          ['line 1'],
          clicked,
        );
      }
    },
  },
  {
    feature: 'Drilldown: services, levels, fields from attributes without a parser, counts by attribute',
    notOnLoki,
    sends: ['GET index/volume', 'GET detected_fields', 'GET query'],
    run: async (scene) => {
      const { grafana, startMs, endMs } = await open(scene);
      const iso: Pairs = [
        ['start', new Date(startMs).toISOString()],
        ['end', new Date(endMs).toISOString()],
      ];
      const volume = await grafana.resource(
        'index/volume',
        [['query', selector], ['limit', '5000'], ...iso],
        appTag,
      );
      const [first] = list(members(dataOf(volume, 'volume'), 'data').get('result'), 'result');
      same(members(first, 'a sample').get('metric'), { service_name: 'otel-shop' }, 'service');
      const answer = await grafana.resource(
        'detected_fields',
        [['query', selector], ['limit', '1000'], ...iso],
        appTag,
      );
      const fields = list(members(answer, 'answer').get('fields'), 'fields').map((item) =>
        members(item, 'a field'),
      );
      const parsers = new Map(
        fields.map((field) => [text(field.get('label'), 'label'), field.get('parsers')]),
      );
      for (const name of ['http_route', 'trace_id', 'detected_level']) same(parsers.get(name), null, name);
      for (const [name, count] of [
        ['detected_level', { error: 3, info: 3 }],
        ['http_route', { '/cart': 6 }],
      ] as const) {
        const expr = `sum by (${name}) (count_over_time(${selector}  | ${name}!="" [1h]))`;
        const { series } = await grafana.query({ expr, endMs, tag: appTag });
        const found = series.map(
          ({ labels, points }) => [labels.get(name) ?? '', points.at(-1)?.[1] ?? 0] as const,
        );
        same(Object.fromEntries([...found].sort()), count, name);
      }
      holds(!parsers.has('service.name'), 'a field with a dot');
    },
  },
]);

/** Writes the rows once for each stage; returns a client and the range. */
async function open({ http, stage, data }: Scene): Promise<{
  readonly grafana: Grafana;
  readonly range: Pairs;
  readonly startMs: number;
  readonly endMs: number;
}> {
  const [startMs, endMs] = [data.endMs - hourMs, data.endMs];
  if (!written.has(stage)) {
    const rows = Array.from({ length: 6 }, (_value, index) => ({
      _time: new Date(data.endMs - (index + 1) * minuteMs).toISOString(),
      _msg: `line ${index}`,
      'service.name': 'otel-shop',
      'k8s.pod.name': `pod-${index % 2}`,
      'k8s.namespace.name': 'shop',
      'telemetry.sdk.name': 'opentelemetry',
      'http.route': '/cart',
      severity_text: index % 2 === 0 ? 'INFO' : 'ERROR',
      severity_number: index % 2 === 0 ? '9' : '17',
      trace_id: `trace-${index}`,
    }));
    await stage.pushRows(streamFields, rows);
    written.add(stage);
  }
  const grafana = new Grafana(http, stage.liveOrgId);
  return { grafana, range: metadataRange(startMs, endMs), startMs, endMs };
}

const written = new WeakSet<Scene['stage']>();
