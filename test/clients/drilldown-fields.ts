/** Grafana Logs Drilldown: fields, their values and patterns. */
import { holds, list, members, number, present, same, strings, text } from './check.js';
import { fixtureSelector, hourMs, minuteMs } from './demo-data.js';
import { appTag, resource } from './drilldown.js';
import { featuresOf, type Scene } from './feature.js';
import { dataOf, Grafana } from './grafana.js';
import { between, countBy, inWindow, lastHour, ofService } from './oracle.js';

interface Field {
  readonly type: string;
  readonly cardinality: number;
  readonly parsers: readonly string[] | null;
  readonly jsonPath: readonly string[] | undefined;
}

const ofFixture = `${fixtureSelector}      `;

export const drilldownFields = featuresOf('Logs Drilldown', 'Logs Drilldown', [
  {
    feature: 'fields tab: type and parser of each field; null for structured metadata',
    sends: ['GET detected_fields'],
    run: async (scene) => {
      const fields = await detectedFields(scene, ofFixture);
      const wanted: readonly (readonly [string, string, readonly string[] | null])[] = [
        ['trace_id', 'string', null],
        ['detected_level', 'string', null],
        ['took', 'duration', ['json', 'logfmt']],
        ['size', 'bytes', ['json', 'logfmt']],
        ['ok', 'boolean', ['json']],
        ['ratio', 'float', ['json']],
        ['user_id', 'int', ['json']],
        ['user_name', 'string', ['json']],
        ['msg', 'string', ['logfmt']],
      ];
      for (const [name, type, parsers] of wanted) {
        const field = present(fields.get(name), `field ${name}`);
        const sorted = field.parsers === null ? null : [...field.parsers].sort();
        same([field.type, sorted], [type, parsers], name);
      }
    },
  },
  {
    feature: 'fields of JSON lines have the path of their key',
    sends: ['GET detected_fields'],
    run: async (scene) => {
      const fields = await detectedFields(scene, '{service_name="storefront"}');
      same(fields.get('http_method')?.jsonPath, ['http', 'method'], 'path of http_method');
      same(fields.get('duration_ms')?.jsonPath, ['duration_ms'], 'path of duration_ms');
      same(fields.get('duration_ms')?.type, 'int', 'type of duration_ms');
      same(fields.get('user_id')?.parsers, null, 'parsers of user_id');
    },
  },
  {
    feature: 'no fields if no line matches',
    sends: ['GET detected_fields', 'GET detected_labels', 'GET detected_field/{name}/values'],
    run: async (scene) => {
      const query = [['query', '{service_name="nobody"}']] as const;
      same(await resource(scene, 'detected_fields', [...query, ['limit', '1000']]), {}, 'detected_fields');
      same(await resource(scene, 'detected_labels', query), {}, 'detected_labels');
      const values = await resource(scene, 'detected_field/took/values', [...query, ['limit', '1000']]);
      same(values, {}, 'values');
    },
  },
  {
    feature: 'field panels: averages of durations, bytes and floats, counts of other types',
    sends: ['GET query_range'],
    run: async ({ http, orgId, data }) => {
      const grafana = new Grafana(http, orgId);
      const range = { ...lastHour(data), stepMs: 60 * minuteMs };
      const all = 'drop __error__, __error_details__';
      const averages: readonly (readonly [string, number])[] = [
        [
          `avg_over_time({service_name="fixture"}      | json | logfmt | ${all}  | took!="" | unwrap duration(took) | __error__="" [1h]) by ()`,
          0.0075,
        ],
        [
          `avg_over_time({service_name="fixture"}      | json | logfmt | ${all}  | size!="" | unwrap bytes(size) | __error__="" [1h]) by ()`,
          2_500,
        ],
        [
          `avg_over_time({service_name="fixture"}      | json ratio="[\\"ratio\\"]" | json | ${all}  | ratio!="" | unwrap ratio | __error__="" [1h]) by ()`,
          0.5,
        ],
      ];
      for (const [expr, wanted] of averages) {
        const { series } = await grafana.query({ expr, ...range, tag: appTag });
        same(
          series.flatMap(({ points }) => points.map(([, value]) => value)),
          [wanted],
          expr,
        );
      }
      const counted =
        'sum by (user_name) (count_over_time({service_name="fixture"}      | json user_name="[\\"user\\"][\\"name\\"]" | json | drop __error__, __error_details__  | user_name!="" [1h]))';
      const { series } = await grafana.query({ expr: counted, ...range, tag: appTag });
      same(
        series.map(({ labels, points }) => [labels.get('user_name'), points[0]?.[1]]),
        [['ann', 1]],
        'users',
      );
    },
  },
  {
    feature: 'structured metadata panel: counts by value',
    sends: ['GET query'],
    run: async ({ http, orgId, data }) => {
      const { endMs } = lastHour(data);
      const expr = 'sum by (worker) (count_over_time({app="batch-worker"}  | worker!="" [3600s]))';
      const { series } = await new Grafana(http, orgId).query({ expr, endMs, tag: appTag });
      const own = inWindow(data, endMs, hourMs, ofService('batch-worker'));
      const found = series.map(
        ({ labels, points }) => [labels.get('worker') ?? '', points[0]?.[1] ?? 0] as const,
      );
      same(
        new Map([...found].sort()),
        countBy(own, ({ metadata }) => metadata['worker'] ?? ''),
        'workers',
      );
    },
  },
  {
    feature: 'values of a field and of detected_level',
    sends: ['GET detected_field/{name}/values'],
    run: async (scene) => {
      const { startMs, endMs } = lastHour(scene.data);
      const own = between(scene.data, startMs, endMs, ofService('checkout'));
      const levels = await fieldValues(scene, 'detected_level', '{service_name="checkout"}');
      same([...levels].sort(), [...new Set(own.map(({ level }) => level))].sort(), 'levels');
      const users = await fieldValues(scene, 'user_name', ofFixture);
      same(users, ['ann'], 'users');
      const reasons = own.flatMap(({ line }) => /reason=(\w+)/.exec(line)?.[1] ?? []);
      const found = await fieldValues(scene, 'reason', '{service_name="checkout"}      | json | logfmt');
      same([...found].sort(), [...new Set(reasons)].sort(), 'reasons');
    },
  },
  {
    feature: 'patterns with counts; used as filters, they match lines',
    sends: ['GET patterns', 'GET query_range'],
    run: async (scene) => {
      const { http, orgId, data } = scene;
      const query = [
        ['query', '{app="batch-worker"}'],
        ['step', '30s'],
      ] as const;
      const patterns = list(dataOf(await resource(scene, 'patterns', query), 'patterns'), 'patterns').map(
        (item) => {
          const pattern = members(item, 'a pattern');
          const samples = list(pattern.get('samples'), 'samples').map((sample) => {
            const [seconds, count] = list(sample, 'a sample');
            return [number(seconds, 'time'), number(count, 'count')] as const;
          });
          return { pattern: text(pattern.get('pattern'), 'pattern'), samples };
        },
      );
      holds(
        patterns.some(({ pattern }) => pattern.includes('done in') && pattern.includes('<_>')),
        'no pattern of the lines',
      );
      for (const { pattern, samples } of patterns) {
        holds(samples.length > 0, `no samples of ${pattern}`);
        for (const [seconds] of samples) same(Number.isInteger(seconds), true, `time ${seconds}`);
        const range = { ...lastHour(data), limit: 1_000, tag: appTag };
        const grafana = new Grafana(http, orgId);
        const quoted = JSON.stringify(pattern);
        const found = (await grafana.query({ expr: `{app="batch-worker"}  |> ${quoted} `, ...range })).rows
          .length;
        const others = (await grafana.query({ expr: `{app="batch-worker"}  !> ${quoted} `, ...range })).rows
          .length;
        const all = between(data, range.startMs, range.endMs, ofService('batch-worker')).length;
        holds(found > 0, `${pattern} finds nothing`);
        same(found + others, all, `lines with and without ${pattern}`);
      }
      const [first, second] = patterns.map(({ pattern }) => JSON.stringify(pattern));
      const both = `{app="batch-worker"}  |> ${first ?? ''} or ${second ?? first ?? ''} `;
      const { rows } = await new Grafana(http, orgId).query({
        expr: both,
        ...lastHour(data),
        limit: 1_000,
        tag: appTag,
      });
      holds(rows.length > 0, 'two patterns find nothing');
    },
  },
  {
    feature: 'no patterns: an empty list, never null',
    sends: ['GET patterns'],
    run: async (scene) => {
      const answer = await resource(scene, 'patterns', [
        ['query', '{service_name="nobody"}'],
        ['step', '30s'],
      ]);
      same(list(dataOf(answer, 'patterns'), 'patterns'), [], 'patterns');
    },
  },
]);

async function detectedFields(scene: Scene, query: string): Promise<ReadonlyMap<string, Field>> {
  // Grafana adds the limit.
  const answer = await resource(scene, 'detected_fields', [
    ['query', query],
    ['limit', '1000'],
  ]);
  same(members(answer, 'answer').get('limit'), 1_000, 'limit');
  const fields = list(members(answer, 'answer').get('fields'), 'fields').map((item) => {
    const field = members(item, 'a field');
    const parsers = field.get('parsers');
    const jsonPath = field.get('jsonPath');
    const read: Field = {
      type: text(field.get('type'), 'type'),
      cardinality: number(field.get('cardinality'), 'cardinality'),
      parsers: parsers === null ? null : strings(parsers, 'parsers'),
      jsonPath: jsonPath === undefined ? undefined : strings(jsonPath, 'jsonPath'),
    };
    return [text(field.get('label'), 'label'), read] as const;
  });
  return new Map(fields);
}

async function fieldValues(scene: Scene, name: string, query: string): Promise<readonly string[]> {
  const answer = await resource(scene, `detected_field/${name}/values`, [
    ['query', query],
    ['limit', '1000'],
  ]);
  const fields = members(answer, 'answer');
  number(fields.get('limit'), 'limit');
  return strings(fields.get('values'), 'values');
}
