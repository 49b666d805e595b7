import { endNs, kinds, lengths, manyTenant, startNs, tenantOf } from './data.js';
import { hostileQueries } from './queries.js';

/** An intentionally expensive request. */
export interface HostileCase {
  readonly name: string;
  readonly path: string;
  readonly params: readonly (readonly [name: string, value: string])[];
  readonly tenant: string;
}

const range: HostileCase['params'] = [
  ['start', String(startNs)],
  ['end', String(endNs)],
];

function ranged(name: string, tenant: string, query: string, ...more: HostileCase['params']): HostileCase {
  return { name, path: '/loki/api/v1/query_range', tenant, params: [['query', query], ...range, ...more] };
}

function many(name: string, query: string, ...more: HostileCase['params']): HostileCase {
  return ranged(name, manyTenant, query, ...more);
}

function instant(name: string, query: string): HostileCase {
  return {
    name,
    path: '/loki/api/v1/query',
    tenant: manyTenant,
    params: [
      ['query', query],
      ['time', String(endNs)],
    ],
  };
}

const all = '{app="many"}';
const counted = `count_over_time(${all} | json [5m])`;

function nested(depth: number, inner: string, open: string, close: string): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}

/** Queries over long lines, for each length. */
const overLongLines: readonly HostileCase[] = hostileQueries.flatMap(({ name, query, line }) =>
  lengths.map((length) =>
    ranged(
      `${name}, lines of ${length / 1_000} KB`,
      tenantOf(line, length),
      query,
      ['limit', '10'],
      ['step', '60'],
    ),
  ),
);

/** Metadata requests about long lines. */
const aboutLongLines: readonly HostileCase[] = kinds.flatMap((kind) =>
  lengths.flatMap((length) =>
    ['detected_fields', 'detected_field/a/values', 'patterns', 'index/volume', 'detected_labels'].map(
      (path): HostileCase => ({
        name: `${path} of ${kind}, lines of ${length / 1_000} KB`,
        path: `/loki/api/v1/${path}`,
        tenant: tenantOf(kind, length),
        params: [['query', '{app="hostile"}'], ...range, ['line_limit', '5000'], ['limit', '5000']],
      }),
    ),
  ),
);

/** Queries over very many lines, series, steps and stages. */
const overManyLines: readonly HostileCase[] = [
  many('a series for each line', `count(sum by (id) (${counted}))`, ['step', '60']),
  many('a series for each line in small steps', `count(sum by (id) (count_over_time(${all} | json [1h])))`, [
    'step',
    '0.33',
  ]),
  many('a series for each line that is returned', `sum by (id) (${counted})`, ['step', '60']),
  many('a series for each user', `sum by (user) (rate(${all} | json [5m]))`, ['step', '10']),
  many('topk over a series for each line', `topk(5, sum by (id) (${counted}))`, ['step', '60']),
  many(
    'two operands with a series for each line',
    `sum by (id) (${counted}) / on (id) sum by (id) (${counted})`,
    ['step', '60'],
  ),
  many('all pairs', `sum by (id, user) (${counted}) * on (user) group_left sum by (user) (${counted})`, [
    'step',
    '60',
  ]),
  many('quantiles of each user', `quantile_over_time(0.9, ${all} | json | unwrap ms [1h]) by (user)`, [
    'step',
    '5',
  ]),
  many(
    'quantiles over all values at each step',
    `quantile_over_time(0.99, ${all} | json | unwrap ms [1h]) by (level)`,
    ['step', '1'],
  ),
  many('most steps', `sum(${counted})`, ['step', '0.4']),
  many('a window of years', `sum(count_over_time(${all} | json [99999h]))`, ['step', '1']),
  many('label_replace 12 deep that doubles', doubled(12, counted), ['step', '600']),
  many('label_replace 100 deep', doubled(100, counted, '$1'), ['step', '600']),
  many(
    'label_join of everything',
    nested(20, `sum by (id) (${counted})`, 'label_replace(', ', "x", "$1$1", "id", "(.*)")'),
    ['step', '600'],
  ),
  many('all lines rewritten', `${all} | json | line_format "{{.id}}{{.user}}{{.ms}}" |~ "9$"`, [
    'limit',
    '5000',
  ]),
  many('500 line filters', all + ' |~ "i.*d"'.repeat(500), ['limit', '10']),
  many('500 stages', all + ' | json | line_format "{{__line__}}"'.repeat(250), ['limit', '5000']),
  many('5,000 stages', all + ' | json'.repeat(5_000), ['limit', '5000']),
  many('1,000 label filters', `${all} | json ${'| ms > 1 '.repeat(1_000)}`, ['limit', '5000']),
  many(
    'a filter of 2,000 alternatives',
    `${all} | json | ${Array.from({ length: 2_000 }, (_, at) => `id="x${at}"`).join(' or ')}`,
    ['limit', '10'],
  ),
  many('a filter 400 deep', `${all} | json | ${nested(400, 'ms > 1', '(', ')')}`, ['limit', '10']),
  many(
    'a selector of 3,000 matchers',
    `{app="many", ${Array.from({ length: 3_000 }, (_, at) => `l${at}!="x"`).join(', ')}}`,
    ['limit', '10'],
  ),
  many('a selector of 100 KB', `{app="many", shard!~"${'x|'.repeat(50_000)}y"}`, ['limit', '10']),
  many('parentheses 5,000 deep', nested(5_000, `sum(${counted})`, '(', ')'), ['step', '60']),
  many('aggregations 500 deep', nested(500, counted, 'sum(', ')'), ['step', '60']),
  many('a sum of 300 counts', Array(300).fill(`sum(${counted})`).join(' + '), ['step', '60']),
  many('a power of powers', `sum(${counted}) ${'^ 9 '.repeat(300)}`, ['step', '60']),
  many('or of many', Array(40).fill(`sum by (id) (${counted})`).join(' or '), ['step', '600']),
  ...(['series', 'index/volume'] as const).map((path): HostileCase => ({
    name: `${path} of 1,000 selectors and target labels`,
    path: `/loki/api/v1/${path}`,
    tenant: manyTenant,
    params: [
      ['query', all],
      ['targetLabels', Array.from({ length: 1_000 }, (_, at) => `l${at}`).join(',')],
      ...Array.from({ length: 1_000 }, (_, at) => ['match[]', `{app="many", shard=~"${at}|x.+|y"}`] as const),
      ...range,
    ],
  })),
  instant('an instant of each line', `sum by (id) (count_over_time(${all} | json [1h]))`),
  instant('an instant of all labels', `count_over_time(${all} | json [1h])`),
  instant('sorted', `sort_desc(sum by (id) (count_over_time(${all} | json [1h])))`),
  instant('deviation by level', `stddev by (level) (count_over_time(${all} | json [1h]))`),
  ...[
    'patterns',
    'detected_fields',
    'detected_field/id/values',
    'index/volume',
    'series',
    'detected_labels',
  ].map((path): HostileCase => ({
    name: `${path} of many lines`,
    path: `/loki/api/v1/${path}`,
    tenant: manyTenant,
    params: [
      ['query', all],
      ['match[]', all],
      ...range,
      ['line_limit', '5000'],
      ['limit', '5000'],
      ['targetLabels', 'id'],
    ],
  })),
];

function doubled(depth: number, inner: string, replacement = '$1$1$1$1'): string {
  return nested(
    depth,
    inner,
    'label_replace(',
    `, "a", "${replacement}", "${replacement === '$1' ? 'id' : 'a'}", "(.*)")`,
  ).replace('"a", "(.*)")', '"id", "(.*)")');
}

/** The cases by the kind of data that makes them expensive. */
export const hostileGroups = {
  longLines: [...overLongLines, ...aboutLongLines],
  manyLines: overManyLines,
} as const;

export const hostileCases: readonly HostileCase[] = Object.values(hostileGroups).flat();
