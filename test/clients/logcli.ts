/** logcli: its commands, as the program sends and reads them. */
import { holds, list, members, number, same, strings, text } from './check.js';
import { hourMs, minuteMs, nanos } from './demo-data.js';
import { featuresOf } from './feature.js';
import { dataOf } from './grafana.js';
import { labelKey } from './grafana-reader.js';
import { goQuery, type Pairs } from './http.js';
import {
  between,
  countBy,
  countPoints,
  indexLabels,
  inWindow,
  lastHour,
  ofService,
  wantedOrder,
} from './oracle.js';
import { api, ask, get, headersOf, pages, rangeOf } from './logcli-program.js';

export const logcli = featuresOf('logcli', 'logcli, canary, lokitool', [
  {
    feature: 'query: pages backward until its limit, without duplicates',
    sends: ['GET query_range'],
    run: async (scene) => {
      const { startMs, endMs } = lastHour(scene.data);
      const wanted = wantedOrder(between(scene.data, startMs, endMs), 'backward');
      same(
        await pages(scene, { direction: 'BACKWARD', limit: 170, batch: 60 }),
        wanted.slice(0, 170),
        'lines',
      );
    },
  },
  {
    feature: 'query --forward: pages forward through lines with equal timestamps',
    sends: ['GET query_range'],
    run: async (scene) => {
      const { startMs, endMs } = lastHour(scene.data);
      const wanted = wantedOrder(between(scene.data, startMs, endMs), 'forward');
      same(
        await pages(scene, { direction: 'FORWARD', limit: wanted.length + 10, batch: 50 }),
        wanted,
        'lines',
      );
    },
  },
  {
    feature: 'query without a step, and a metric query with one in float seconds',
    sends: ['GET query_range'],
    run: async (scene) => {
      const { data } = scene;
      const range = { startMs: data.endMs - hourMs, endMs: data.endMs, stepMs: 90_000 };
      const expr = '{app="batch-worker"}';
      const wanted = countPoints(data.entries.filter(ofService('batch-worker')), {
        ...range,
        windowMs: minuteMs,
      });
      const query = `count_over_time(${expr}[1m])`;
      const pairs: Pairs = [
        ['query', `sum(${query})`],
        ['limit', '30'],
        ['direction', 'BACKWARD'],
        ...rangeOf(range),
      ];
      const withStep = await ask(scene, 'query_range', [...pairs, ['step', '90']]);
      same(
        withStep.series.map(({ points }) => points),
        [wanted],
        'points',
      );
      const without = await ask(scene, 'query_range', pairs);
      holds(without.series.length === 1, 'no series without a step');
    },
  },
  {
    feature: 'query --stats: all statistics are present',
    sends: ['GET query_range'],
    run: async (scene) => {
      const pairs: Pairs = [
        ['query', '{app="batch-worker"}'],
        ['limit', '30'],
        ['direction', 'BACKWARD'],
        ...rangeOf(lastHour(scene.data)),
      ];
      const stats = members((await ask(scene, 'query_range', pairs)).stats, 'stats');
      for (const [part, names] of statsRead) {
        const fields = part.split('.').reduce((value, name) => members(value.get(name), name), stats);
        for (const name of names) number(fields.get(name), `${part}.${name}`);
      }
    },
  },
  {
    feature: 'instant-query: a vector, and a scalar',
    sends: ['GET query'],
    run: async (scene) => {
      const { data } = scene;
      const pairs: Pairs = [
        ['limit', '30'],
        ['time', String(nanos(data.endMs))],
        ['direction', 'BACKWARD'],
      ];
      const expr = 'sum by (service_name) (count_over_time({namespace=~".+"}[10m]))';
      const vector = await ask(scene, 'query', [['query', expr], ...pairs]);
      const own = inWindow(data, data.endMs, 10 * minuteMs, () => true);
      const found = vector.series.map(
        ({ labels, points }) => [labels.get('service_name') ?? '', points[0]?.[1] ?? 0] as const,
      );
      same(
        new Map([...found].sort()),
        countBy(own, ({ service }) => service),
        'vector',
      );
      const scalar = await ask(scene, 'query', [['query', '1+1'], ...pairs]);
      same([scalar.resultType, scalar.series[0]?.points[0]?.[1]], ['scalar', 2], 'scalar');
    },
  },
  {
    feature: 'labels, and labels <name>',
    sends: ['GET labels', 'GET label/{name}/values'],
    run: async (scene) => {
      const { startMs, endMs } = lastHour(scene.data);
      const own = between(scene.data, startMs, endMs);
      const wanted = (name?: string): readonly string[] =>
        [
          ...new Set(
            own.flatMap((entry) =>
              name === undefined ? [...indexLabels(entry).keys()] : (indexLabels(entry).get(name) ?? []),
            ),
          ),
        ].sort();
      const pairs = rangeOf({ startMs, endMs });
      same(strings(dataOf(await get(scene, 'labels', pairs), 'labels'), 'labels'), wanted(), 'labels');
      same(
        strings(dataOf(await get(scene, 'label/app/values', pairs), 'values'), 'values'),
        wanted('app'),
        'values',
      );
    },
  },
  {
    feature: 'series: label sets, with several matchers',
    sends: ['GET series'],
    run: async (scene) => {
      const { startMs, endMs } = lastHour(scene.data);
      const pairs: Pairs = [
        ['match', '{service_name="checkout"}'],
        ['match', '{job="ingress"}'],
        ...rangeOf({ startMs, endMs }),
      ];
      const found = list(dataOf(await get(scene, 'series', pairs), 'series'), 'series').map((item) =>
        labelKey(new Map([...members(item, 'series')].map(([name, value]) => [name, text(value, name)]))),
      );
      const own = between(
        scene.data,
        startMs,
        endMs,
        ({ service }) => service === 'checkout' || service === 'ingress',
      );
      same(
        [...found].sort(),
        [...new Set(own.map((entry) => labelKey(indexLabels(entry))))].sort(),
        'series',
      );
    },
  },
  {
    feature: 'stats, volume and volume_range',
    notOnLoki: 'it counts what has reached its index',
    sends: ['GET index/stats', 'GET index/volume', 'GET index/volume_range'],
    run: async (scene) => {
      const { startMs, endMs } = lastHour(scene.data);
      const query: Pairs = [['query', '{namespace="shop"}'], ...rangeOf({ startMs, endMs })];
      const stats = members(await get(scene, 'index/stats', query), 'stats');
      const own = between(scene.data, startMs, endMs, ({ labels }) => labels['namespace'] === 'shop');
      same(number(stats.get('entries'), 'entries'), own.length, 'entries');
      const volume = await ask(scene, 'index/volume', [
        ...query,
        ['limit', '30'],
        ['targetLabels', 'service_name'],
      ]);
      const values = volume.series.map(({ points }) => points[0]?.[1] ?? 0);
      same(
        values,
        [...values].sort((a, b) => b - a),
        'order of volumes',
      );
      const byLabel = await ask(scene, 'index/volume', [
        ...query,
        ['limit', '30'],
        ['aggregateBy', 'labels'],
      ]);
      holds(
        byLabel.series.some(({ labels }) => labels.has('pod')),
        'no volume of the label pod',
      );
      const ranged = await ask(scene, 'index/volume_range', [
        ...query,
        ['limit', '30'],
        ['step', '600'],
        ['targetLabels', 'namespace'],
      ]);
      same(ranged.resultType, 'matrix', 'type of volume_range');
      for (const { points } of ranged.series) {
        // Buckets end a millisecond before the next one starts; the last bucket ends at the end of the range.
        const times = points.map(([seconds]) => seconds);
        holds(
          times.every((seconds) => seconds === endMs / 1000 || String(seconds).endsWith('.999')),
          times.join(),
        );
      }
      const one = await ask(scene, 'index/volume_range', [
        ...query,
        ['limit', '30'],
        ['step', '86400'],
        ['targetLabels', 'namespace'],
      ]);
      holds(
        one.series.every(({ points }) => points.length === 1) === (one.resultType === 'vector'),
        one.resultType,
      );
    },
  },
  {
    feature: 'detected-fields, and detected-fields <field>',
    sends: ['GET detected_fields', 'GET detected_field/{name}/values'],
    run: async (scene) => {
      const pairs: Pairs = [
        ['query', '{service_name="checkout"}'],
        ['limit', '100'],
        ['line_limit', '1000'],
        ['step', '10s'],
        ...rangeOf(lastHour(scene.data)),
      ];
      const fields = list(
        members(await get(scene, 'detected_fields', pairs), 'answer').get('fields'),
        'fields',
      );
      const names = fields.map((item) => {
        const field = members(item, 'a field');
        text(field.get('type'), 'type');
        number(field.get('cardinality'), 'cardinality');
        return text(field.get('label'), 'label');
      });
      for (const name of ['order_id', 'took', 'level', 'trace_id'])
        holds(names.includes(name), `no field ${name}`);
      const values = await get(scene, 'detected_field/level/values', pairs);
      const levels = strings(members(values, 'answer').get('values'), 'values');
      same([...levels].sort(), ['error', 'info'], 'levels');
    },
  },
  {
    feature: 'an error is printed, with a non-zero exit status',
    sends: ['GET query_range'],
    run: async ({ http, orgId }) => {
      const query = goQuery([
        ['query', '{app="batch-worker"'],
        ['limit', '30'],
        ['direction', 'BACKWARD'],
      ]);
      const reply = await http.send('GET', `${api}/query_range`, { query, headers: headersOf(orgId) });
      same(reply.status, 400, 'status');
      holds(reply.text.includes('parse error at line 1'), reply.text);
    },
  },
]);

/** The statistics that logcli prints. */
const statsRead: readonly (readonly [part: string, names: readonly string[]])[] = [
  ['ingester', ['totalReached', 'totalChunksMatched', 'totalBatches', 'totalLinesSent']],
  ['querier.store', ['totalChunksRef', 'totalChunksDownloaded', 'chunksDownloadTime']],
  ['querier.store.chunk', ['decompressedBytes', 'decompressedLines', 'compressedBytes', 'totalDuplicates']],
  [
    'summary',
    [
      'bytesProcessedPerSecond',
      'linesProcessedPerSecond',
      'totalBytesProcessed',
      'totalLinesProcessed',
      'execTime',
      'queueTime',
    ],
  ],
];
