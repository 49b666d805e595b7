import { readCases, type Case } from '../conformance/cases.js';

/** A request of a client, or the same request over another range. */
export interface Question {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly form: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
}

/** Requests of every kind in the corpus, `perKind` of each family and path, and some that use other code paths to the backend. */
export function questions(perKind = 2): readonly Question[] {
  const byKind = new Map<string, Question[]>();
  for (const { request, golden } of [...readCases('http'), ...readCases('otel')]) {
    if (golden.status !== 200) continue;
    const kind = `${request.family} ${request.path}`;
    const some = byKind.get(kind) ?? [];
    byKind.set(kind, some);
    if (some.length < perKind) some.push(questionOf(request));
  }
  return [...[...byKind.values()].flat(), ...more];
}

function questionOf({ id, method, path, params, headers }: Case): Question {
  const form = Object.entries(params).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((each): [string, string] => [name, each]),
  );
  return { name: id, method, path, form, headers };
}

const start = '1793494800000000000';
const end = '1793498400000000000';
const t1 = { 'X-Scope-OrgID': 't1' };
const several = { 'X-Scope-OrgID': 't1|t2' };

function range(
  name: string,
  path: string,
  query: string | undefined,
  headers: Question['headers'] = t1,
): Question {
  const form: [string, string][] = [
    ['start', start],
    ['end', end],
  ];
  if (query !== undefined) form.unshift(['query', query]);
  return { name, method: 'GET', path: `/loki/api/v1/${path}`, form, headers };
}

const more: readonly Question[] = [
  range('patterns', 'patterns', '{service_name="checkout"}'),
  range('several tenants: lines', 'query_range', '{service_name="checkout"}', several),
  range(
    'several tenants: a metric',
    'query_range',
    'sum by (level) (count_over_time({env=~".+"}[5m]))',
    several,
  ),
  range('several tenants: labels', 'labels', undefined, several),
  range('several tenants: series', 'series', undefined, several),
  range('several tenants: volume', 'index/volume', '{env=~".+"}', several),
  range('several tenants: fields', 'detected_fields', '{env=~".+"}', several),
  range(
    'counted here: parsed',
    'query_range',
    'sum by (status) (count_over_time({service_name="api-gateway"} | json | status!="" [5m]))',
  ),
  range(
    'counted here: unwrap',
    'query_range',
    'avg_over_time({service_name="api-gateway"} | json | unwrap duration_ms | __error__="" [5m])',
  ),
  range(
    'rewritten lines',
    'query_range',
    '{service_name="api-gateway"} | json | line_format "{{.method}}" |= "GET"',
  ),
  range(
    'two operands',
    'query_range',
    'sum(count_over_time({env="production"}[5m])) / sum(count_over_time({env=~".+"}[5m]))',
  ),
  {
    name: 'legacy labels',
    method: 'GET',
    path: '/api/prom/label',
    form: [
      ['start', start],
      ['end', end],
    ],
    headers: t1,
  },
  { name: 'ready', method: 'GET', path: '/ready', form: [], headers: {} },
];

/** The same question over a range that starts a quarter later, or at a time five minutes earlier. */
export function shifted(question: Question): Question {
  const from = valueOf(question, 'start');
  const to = valueOf(question, 'end');
  const time = valueOf(question, 'time');
  if (from !== undefined && to !== undefined && /^\d+$/.test(from) && /^\d+$/.test(to)) {
    return replaced(question, 'start', String(BigInt(from) + (BigInt(to) - BigInt(from)) / 4n));
  }
  if (time !== undefined && /^\d{19}$/.test(time))
    return replaced(question, 'time', String(BigInt(time) - 300_000_000_000n));
  return question;
}

function valueOf({ form }: Question, name: string): string | undefined {
  return form.find(([each]) => each === name)?.[1];
}

function replaced(question: Question, name: string, value: string): Question {
  return {
    ...question,
    form: question.form.map(([each, old]) => [each, each === name ? value : old] as const),
  };
}
