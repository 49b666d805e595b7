import { routes } from '../../core/wire/routes-table.js';
import { readCases, readLines, type Case } from '../conformance/cases.js';
import type { Random } from '../watch/random.js';
import { mutate, QueryWriter } from './logql.js';

/** A request that an HTTP client library can send. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly params: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  /** True to send parameters in a form, else in the URL. */
  readonly isForm: boolean;
}

const cases: readonly Case[] = [...readCases('http'), ...readCases('otel')].map(({ request }) => request);
const queries: readonly string[] = ['parse', 'pipeline'].flatMap((name) =>
  readLines(`test/data/logql/${name}.jsonl`).map((line) => (JSON.parse(line) as { query: string }).query),
);

/** Read-only paths, and paths that are rejected; a deletion could succeed. */
const paths = routes
  .filter(({ id, listener }) => id !== 'delete' && listener === 'main')
  .flatMap((route) => route.paths);
const dataPaths = [
  'query_range',
  'query_range',
  'query_range',
  'query',
  'query',
  'labels',
  'label/level/values',
  'series',
  'index/stats',
  'index/volume',
  'index/volume_range',
  'index/shards',
  'detected_fields',
  'detected_labels',
  'detected_field/status/values',
  'patterns',
  'format_query',
  'tail',
].map((name) => `/loki/api/v1/${name}`);
const tenants = [
  't1',
  't2',
  't3',
  't1|t2',
  't1|t2|t3',
  '*',
  '',
  '11',
  '11:0',
  'nobody',
  't1|',
  'a/../b',
  'é',
  'x'.repeat(300),
  '0',
  'fake',
  '__proto__',
];
const numbers = [
  '0',
  '1',
  '100',
  '5000',
  '5001',
  '-1',
  '4294967296',
  '1e9',
  'NaN',
  '',
  'x',
  '9223372036854775807',
  '1.5',
  '0x10',
  '١',
];
const times = [
  '1793494800000000000',
  '1793498400000000000',
  '1793494800',
  '1793498400.5',
  '2026-11-01T00:00:00Z',
  '2026-11-01T02:00:00.123456789+02:00',
  '0',
  '-1',
  '',
  'now',
  '9223372036854775807',
  '-9223372036854775808',
  '1e400',
  '99999999999999999999',
  '2026-02-30T00:00:00Z',
];
const steps = ['1', '60', '5m', '0', '-1', '0.001', '1e300', '', 'x', '99999h', '1ns', '3600'];
const names = [
  'query',
  'start',
  'end',
  'time',
  'limit',
  'step',
  'direction',
  'interval',
  'since',
  'match[]',
  'match',
  'targetLabels',
  'aggregateBy',
  'line_limit',
  'delay_for',
  'targetBytesPerShard',
  'from',
  'to',
  'shards',
  'x',
  '__proto__',
  'constructor',
];

/** Generates one request. */
export function makeRequest(random: Random): FuzzRequest {
  const made = random.chance(0.4) ? ofCorpus(random) : ofGrammar(random);
  return random.chance(0.3) ? disturbed(random, made) : made;
}

/** A real client's request, with one or two changes. */
function ofCorpus(random: Random): FuzzRequest {
  const { method, path, params, headers } = random.pick(cases);
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((each): readonly [string, string] => [name, each]),
  );
  const spoilt = random.below(pairs.length * 2);
  const changed = pairs.map(([name, value], place): readonly [string, string] =>
    place === spoilt
      ? [name, name === 'query' ? mutate(random, value) : valueFor(random, name)]
      : [name, value],
  );
  return { method, path, params: changed, headers, isForm: method === 'POST' };
}

function ofGrammar(random: Random): FuzzRequest {
  const isForm = random.chance(0.3);
  const query = queryOf(random);
  const some = random.several(random.chance(0.3) ? 3 : 0, (): readonly [string, string] => {
    const name = random.pick(names);
    return [name, valueFor(random, name)];
  });
  const span: readonly (readonly [string, string])[] = random.chance(0.8)
    ? [
        ['start', '1793494800000000000'],
        ['end', random.pick(['1793495100000000000', '1793498400000000000', '1793516400000000000'])],
      ]
    : [];
  return {
    method: isForm ? 'POST' : 'GET',
    path: random.pick(dataPaths),
    params: [['query', query], ...span, ...some],
    headers: { 'X-Scope-OrgID': random.chance(0.8) ? 't1' : random.pick(tenants) },
    isForm,
  };
}

function queryOf(random: Random): string {
  const query = random.chance(0.7) ? new QueryWriter(random).query() : random.pick(queries);
  return random.chance(0.15) ? mutate(random, query) : query;
}

function valueFor(random: Random, name: string): string {
  if (random.chance(0.05)) return 'x'.repeat(random.pick([1_000, 10_000, 200_000]));
  switch (name) {
    case 'query':
      return queryOf(random);
    case 'match':
    case 'match[]':
      return new QueryWriter(random).selector();
    case 'start':
    case 'end':
    case 'time':
    case 'from':
    case 'to':
      return random.pick(times);
    case 'step':
    case 'interval':
    case 'since':
      return random.pick(steps);
    case 'direction':
      return random.pick(['forward', 'backward', 'FORWARD', '', 'sideways']);
    case 'aggregateBy':
      return random.pick(['series', 'labels', 'x']);
    case 'targetLabels':
      return random.pick(['service_name', 'a,b,c', ',', '']);
    default:
      return random.pick(numbers);
  }
}

/** The same with another method, path or header, or with many more parameters. */
function disturbed(random: Random, request: FuzzRequest): FuzzRequest {
  switch (random.below(6)) {
    case 0:
      return {
        ...request,
        method: random.pick([
          'GET',
          'POST',
          'PUT',
          'DELETE',
          'PATCH',
          'HEAD',
          'OPTIONS',
          'TRACE',
          'PROPFIND',
        ]),
      };
    case 1:
      return { ...request, path: oddPath(random) };
    case 2:
      return { ...request, headers: { ...request.headers, 'X-Scope-OrgID': latin(random.pick(tenants)) } };
    case 3:
      return { ...request, headers: { ...request.headers, ...oddHeaders(random) } };
    case 4: {
      const more = random.several(random.pick([10, 200, 2_000]), (): readonly [string, string] => {
        const name = random.pick(names);
        return [name, valueFor(random, name).slice(0, 200)];
      });
      return { ...request, params: [...request.params, ...more] };
    }
    default:
      return { ...request, isForm: !request.isForm };
  }
}

function oddPath(random: Random): string {
  const path = random
    .pick(paths)
    .replaceAll(/\{\w+\}/g, () =>
      random.pick(['level', 'a%2Fb', '%00', '..', '%E9', '__proto__', 'x'.repeat(5_000)]),
    );
  return random.pick([
    path,
    path,
    `${path}/`,
    `/${path}`,
    path.toUpperCase(),
    `${path}%`,
    `${path}%2e%2e/`,
    `${path};a=b`,
  ]);
}

function oddHeaders(random: Random): Record<string, string> {
  return random.pick<Record<string, string>>([
    { 'Accept-Encoding': random.pick(['gzip', 'br', 'identity;q=0', '*', 'gzip;q=x']) },
    { 'X-Loki-Response-Encoding-Flags': random.pick(['categorize-labels', 'x', ',,,']) },
    { 'Content-Type': random.pick(['application/json', 'multipart/form-data', 'text/plain; charset=x', '']) },
    { 'Content-Encoding': random.pick(['gzip', 'x']) },
    { Authorization: random.pick(['Basic x', 'Bearer', 'Basic ' + 'A'.repeat(5_000)]) },
    { 'X-Query-Tags': random.pick(['Source=grafana', '=', 'x'.repeat(4_000)]) },
    { Host: random.pick(['', 'evil', '[::1]:99999']) },
    { 'X-Forwarded-For': random.pick(['1.1.1.1', 'x'.repeat(1_000)]) },
    { Expect: '100-continue' },
    { Range: 'bytes=0-10', 'If-None-Match': '*' },
  ]);
}

/** Converts a text to characters that headers allow. */
function latin(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
