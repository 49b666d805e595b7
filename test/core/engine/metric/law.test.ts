import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { Trace } from '../../../../core/base/trace.js';
import { Engine } from '../../../../core/engine/engine.js';
import type { ReadStrategy } from '../../../../core/engine/metric/context.js';
import { isDeclined } from '../../../../core/engine/metric/cost.js';
import { strategies } from '../../../../core/engine/metric/strategies.js';
import { wholeRowsStrategy } from '../../../../core/engine/metric/rows.js';
import { engineMetrics } from '../../../../core/engine/metrics.js';
import { doAll } from '../../../../core/base/pace/steps.js';
import { LogqlError, type MetricExpr } from '../../../../core/logql/index.js';
import { rangeFunctions } from '../../../../core/logql/functions/range/index.js';
import { leavesOf, mapLeaves } from '../../../../core/logql/metric/index.js';
import type { CheckedMetric } from '../../../../core/engine/plan/checked-request.js';
import { askedMetric } from '../plan/planned.js';
import type { Pushdown } from '../../../../core/engine/plan/rules/rule.js';
import { createExchange } from '../../../../core/kernel/plugin/exchange.js';
import { FakeClock, makeCaller, makeHost, makeTenant } from '../../../../core/testing/index.js';
import type { Answer } from '../../../../core/wire/answer/types.js';
import type { QueryRangeRequest, QueryRequest } from '../../../../core/wire/api/request.js';
import type { Dataset } from '../../../compare/data/dataset.js';
import { load } from '../../../compare/load.js';
import type { Question } from '../../../compare/question.js';
import { makeContext, quoted } from '../../../compare/requests/context.js';
import { makeQuestion } from '../../../compare/requests/index.js';
import { optionsOf } from '../../../../core/testing/options.js';
import { Random } from '../../../watch/random.js';
import { oneOf } from '../../../setup/runs.js';
import { runs } from '../../../setup/samples.js';
import { endNs, lawData } from './law-data.js';
import { instantRequest, MetricStore, rangeRequest, valuesOf } from './metric-store.js';

const second = 1_000_000_000n;
const families = ['metric', 'instant', 'dashboard', 'explore'];

let store: MetricStore;
test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

type MetricRequest = QueryRequest | QueryRangeRequest;

/** The request of a question; undefined for log queries and invalid questions. */
function requestOf({ path, query, window, atNs }: Question): MetricRequest | undefined {
  if (query?.name !== 'query') return undefined;
  // The remainder of nearly equal decimals is either 0 or nearly the divisor (docs/differences.md).
  if (query.text.includes(' % ')) return undefined;
  const steps = 40n;
  const made =
    path === 'query' && atNs !== undefined
      ? () => instantRequest(query.text, atNs)
      : path === 'query_range' && window !== undefined
        ? () =>
            rangeRequest(
              query.text,
              window.startNs,
              window.endNs,
              ((window.endNs - window.startNs) / steps / second + 1n) * second,
            )
        : undefined;
  try {
    const request = made?.();
    if (request === undefined || request.query.ast.kind === 'log') return undefined;
    askedMetric(request.query.ast);
    return request;
  } catch (error) {
    if (error instanceof ApiError || error instanceof LogqlError) return undefined;
    throw error;
  }
}

/** If there are several leaves, an error may name any entry. A real VictoriaLogs also sends rows of equal times in any order. */
function errorOf({ message, entry }: ApiError, asked: CheckedMetric): unknown {
  const mayNameOthers = leavesOf(asked.tree).length > 1 || process.env['BACKEND_URL'] !== undefined;
  return mayNameOthers ? entry : message;
}

function shown(answer: Answer): unknown {
  return answer.kind === 'scalar' ? answer.point.value : valuesOf(answer);
}

/** A query that counts or aggregates labels of a parser, as dashboards do; the random query families rarely produce one. */
function parsedQuestion(random: Random, data: Dataset): MetricRequest {
  const parser = random.pick(['json', 'json', 'logfmt'] as const);
  const contexts = Array.from({ length: 30 }, () => makeContext(random, data));
  const context = contexts.find(({ facts }) => facts.kind === parser) ?? makeContext(random, data);
  const { stream, facts, known } = context;
  const own = Object.entries(stream.labels).map(([name, value]) => `${name}=${quoted(random, value)}`);
  const found = [...facts.fields].filter(([name]) => /^[a-zA-Z_]\w*$/.test(name));
  const numbers = found.filter(([, value]) => /^-?\d+(\.\d+)?$/.test(value));
  const [number = 'status', value = '1'] = numbers.length === 0 ? [] : random.pick(numbers);
  const names = [...found.map(([name]) => name), ...known.keys()];
  return asked(random, data, {
    parser,
    selected: random.pick([`{${own.join(',')}}`, '{service_name=~".+"}', '{app=~".+"}']),
    names: [random.pick(names), random.pick(names)],
    number,
    filter: random.pick(['', ` | ${number} >= ${value}`, ` | ${random.pick(names)}!=""`]),
  });
}

/** A query like those of `parsedQuestion` over the regular or the sparse rows. */
function regularQuestion(random: Random, data: Dataset): MetricRequest {
  return asked(random, data, {
    parser: random.pick(['json', 'json', 'json method, level, status="status", took="took"']),
    selected: `{app="${random.pick(['regular', 'regular', 'sparse'])}", door${random.pick(['="push-0"', '="push-1"', '="push-4"', '="rebuilt-3"', '=~"push-.*"', '=~"rebuilt-.*"', '=~".+"'])}}`,
    names: [random.pick(['method', 'status', 'door', 'took']), random.pick(['method', 'level'])],
    number: random.pick(['took', 'took', 'status']),
    filter: random.pick(['', '', ' | status >= 404', ' | method!="PUT"', ' | took > 500']),
  });
}

/** A query whose series keep all labels, with a parser that declares its labels. */
function ungroupedQuestion(random: Random, data: Dataset): MetricRequest {
  const app = random.pick(['regular', 'regular', 'sparse', 'clashing', 'mixed', 'odd']);
  const door = random.pick(['push-0', 'push-1', 'push-.*', '.+']);
  const parser = random.pick([
    'pattern `<_>"method":"<method>"<_>`',
    'pattern `<_>"status":"<took>"<_>`',
    'regexp `"took":"?(?P<took>[0-9.]+)`',
    'regexp `"(?P<method>GET|PUT)".*"status":"(?P<took>[0-9]+)"`',
    'json method="method", took="took"',
    'json team="method", took="status"',
    'logfmt method="method", took="took"',
  ]);
  const errors = random.pick(['', ' | __error__=""', ' | drop __error__, __error_details__']);
  const selected = `{app="${app}", door=~"${door}"}${random.pick(['', '', ' |= "e"'])} | ${parser}`;
  const lines = `${selected}${errors} [10m]`;
  const values = `${selected} | unwrap ${random.pick(['took', 'took', 'status'])} | __error__="" [10m]`;
  const [op, { parameter, ofLines }] = random.pick(functions);
  const made = `${op}(${parameter === 'required' ? '0.9, ' : ''}${ofLines === undefined ? values : lines})`;
  const text = random.pick([made, `avg by (door) (${made})`, `max without (detected_level) (${made})`]);
  return rangeRequest(text, data.startNs, data.endNs, 300n * second);
}

interface Asked {
  readonly parser: string;
  readonly selected: string;
  readonly names: readonly [string, string];
  readonly number: string;
  readonly filter: string;
}

const functions = Object.entries(rangeFunctions);

/** A range function over lines or values, with its own grouping or a sum around it. */
function ofAnyFunction(random: Random, by: string, lines: string, values: string): string {
  const [op, { parameter, grouping, ofLines }] = random.pick(functions);
  const made = `${op}(${parameter === 'required' ? '0.9, ' : ''}${ofLines === undefined ? values : lines})`;
  return grouping === 'allowed' ? `${made} by (${by})` : `sum by (${by}) (${made})`;
}

function asked(
  random: Random,
  data: Dataset,
  { parser, selected, names, number, filter }: Asked,
): MetricRequest {
  const by = random.pick([names[0], names[0], names[1], names.join(', '), 'app']);
  const errors = random.pick(['', '', ' | __error__=""', ' | drop __error__']);
  const range = random.pick(['1m', '5m', '10m', '30m']);
  const lines = `${selected} | ${parser}${filter}${errors} [${range}]`;
  const kept = random.pick(['=""', '=""', '=""', '=""', '=""', '!=""', '!="JSONParserErr"', '=~".*"']);
  const checked = random.pick(['', '', ' | __error__=""']);
  const behind = random.pick([true, true, true, false]) ? ` | __error__${kept}` : '';
  const values = `${selected} | ${parser}${filter}${checked} | unwrap ${number}${behind} [${range}]`;
  const text = random.pick([
    `sum by (${by}) (count_over_time(${lines}))`,
    `count_over_time(${selected} | ${parser} | keep ${names[0]} [${range}])`,
    `sum(bytes_over_time(${lines}))`,
    `sum by (level, detected_level) (count_over_time(${selected} | drop __error__ [${range}]))`,
    `quantile_over_time(0.9, ${values}) by (${by})`,
    `max_over_time(${values}) by (${by})`,
    `sum by (${by}) (sum_over_time(${values}))`,
    `sum by (${by}) (rate(${values}))`,
    ...[0, 1, 2].map(() => ofAnyFunction(random, by, lines, values)),
    `max by (${by}) (max_over_time(${values}))`,
    `min by (${by}) (min_over_time(${values}))`,
    `max(max_over_time(${values}))`,
  ]);
  if (random.chance(0.2)) return instantRequest(text, data.endNs - BigInt(random.below(3600)) * second);
  const step = random.pick([60n, 120n, 300n, 600n]) * second;
  const startNs = random.chance(0.7) ? data.startNs - (data.startNs % step) : data.startNs + 1n;
  return rangeRequest(text, startNs, random.chance(0.7) ? data.endNs : startNs + 2_000n * second, step);
}

/** Asked with every seed: difficult cases with repeats, errors and missing lines for each way of reading. */
const always = [
  'sum by (door) (sum_over_time({app="regular", door="push-1"} | json | unwrap took | __error__="" [10m]))',
  'quantile_over_time(0.9, {app="regular", door="push-1"} | json | unwrap took | __error__="" [5m]) by (method)',
  'min_over_time({app="regular", door="push-1"} | json | unwrap took [5m] offset 1m) by (method)',
  'max_over_time({app="regular", door="push-0"} | json | unwrap took | __error__="JSONParserErr" [10m]) by (app)',
  'last_over_time({app="regular", door="push-0"} | json | unwrap took | __error__="" [10m]) by (level)',
  'sum by (took) (count_over_time({app="regular", door="push-0"} | json [30m]))',
  'sum by (status) (count_over_time({app="regular", door="push-1"} | json [10m]))',
  'sum by (method) (count_over_time({app="regular", door="rebuilt-3"} | json | status >= 404 [10m]))',
  'quantile_over_time(0.5, {app="regular", door="rebuilt-3"} | json | unwrap took | __error__="" [5m]) by (status)',
  'max by (method) (max_over_time({app="regular", door="rebuilt-3"} | json | unwrap took | __error__="" [5m]))',
  'min by (door, status) (min_over_time({app="regular", door=~"push.*"} | json | unwrap took | __error__="" [5m]))',
  'max by (method) (max_over_time({app="regular", door="push-0"} | json | unwrap took | __error__="" [5m]))',
  'min by (status) (min_over_time({app="regular", door="push-1"} | json | unwrap took | __error__="" [1m]))',
  'max by (took, level) (max_over_time({app="regular"} | json | unwrap took | __error__="" [5m]))',
  'min without (took, level, user, pod) (min_over_time({app="regular"} | json | unwrap took | __error__="" [5m]))',
  'max(max_over_time({app="regular", door="push-0"} | json | unwrap took | __error__="JSONParserErr" [5m]))',
  'max_over_time({app="regular", door="push-1"} | json | unwrap took | user==1s or status>=404 or size==2KB [5m])',
  'quantile_over_time(0.9, {app="regular", door="push-1"} | json | __error__="" | unwrap took [5m]) by (method)',
  'quantile_over_time(0.9, {app="regular", door="push-0"} | json | __error__="" | unwrap took [5m]) by (method)',
  'absent_over_time({app="regular", door="push-0"} | json | __error__!="" [1m])',
  'absent_over_time({app="regular", door="push-0"} | json | unwrap took | __error__="" [1m])',
  'sum by (level, detected_level) (count_over_time({app="regular"} | drop __error__ [5m]))',
  'quantile_over_time(0.9, {app="regular", door="push-4"} | json | unwrap took | __error__="" [5m]) by (door, method)',
  'sum by (door) (sum_over_time({app="regular", door=~"push-[14]"} | json | unwrap status | __error__="" [5m]))',
  'quantile_over_time(0.9, {app="regular", door="rebuilt-5"} | json | unwrap took | __error__="" [5m]) by (status)',
  'sum by (door, level) (bytes_over_time({app="regular", door=~"push-.*"} | json [5m]))',
  'sum by (level, detected_level) (count_over_time({app="mixed"} | drop __error__ [5m]))',
  'sum by (door, detected_level) (rate({app="mixed"} |= "e" [10m]))',
  'sum by (team) (rate({app="clashing"} [5m]))',
  'sum by (team, zone) (bytes_over_time({app="clashing"} |= "o" [10m]))',
  'sum by (team, team_extracted) (count_over_time({app="clashing"} [10m]))',
  'sum by (zone, level, detected_level) (count_over_time({app="clashing"} | drop __error__ [5m]))',
  'sum by (team, method) (count_over_time({app="clashing"} | json | __error__="" [10m]))',
  'count_over_time({app="clashing", door=~"push-[01]"} [10m])',
  'max_over_time({app="clashing"} | json | unwrap took | __error__="" [10m]) by (team)',
  'quantile_over_time(0.9, {app="clashing"} | json | unwrap took | __error__="" [5m]) by (team, method)',
  'sum by (team) (sum_over_time({app="clashing", door!="push-2"} | json | unwrap took | __error__="" [5m]))',
  'quantile_over_time(0.9, {app="sparse"} | json | unwrap took | __error__="" [5m]) by (method)',
  'quantile_over_time(0.9, {app="sparse", door="push-0"} | json | unwrap took | __error__="" [5m]) by (method)',
  'sum by (door) (sum_over_time({app="sparse"} | json | unwrap status | __error__="" [5m]))',
  'max_over_time({app="sparse", door="push-0"} | json | unwrap status [5m]) by (method)',
  'sum by (level, detected_level) (count_over_time({app="sparse"} | drop __error__ [5m]))',
  'sum by (door, detected_level) (count_over_time({app="sparse", door=~"push-[02]"} [5m]))',
  'sum by (status) (count_over_time({app="sparse"} | json | __error__="" [5m]))',
  'sum by (method, level) (count_over_time({app="sparse", door="push-0"} | json | status >= 404 [5m]))',
  'sum by (level, detected_level) (count_over_time({app="odd"} | drop __error__ [5m]))',
  'sum by (level, detected_level) (count_over_time({app="odd"} |= "m1" [1m]))',
  'sum by (detected_level) (bytes_over_time({app="odd", door="push-0"} [10m]))',
  'sum by (status, detected_level) (count_over_time({app="odd", door="push-0"} | json [10m]))',
  'count_over_time({app="regular", door=~"push-[01]"} | pattern `<_>"method":"<method>"<_>` [10m])',
  'avg by (door) (avg_over_time({app="regular", door="push-1"} | regexp `"took":"(?P<took>[0-9.]+)"` | unwrap took [5m]))',
  'sum by (method) (count_over_time({app="regular", door="push-1"} | json method="method" [10m]))',
  'max_over_time({app="regular"} | json took="took", method="method" | unwrap took | __error__="" [10m])',
  'quantile_over_time(0.5, {app="odd"} | json took="took" | unwrap took | __error__="" [10m])',
  'avg by (team) (avg_over_time({app="clashing"} | json took="took" | unwrap took | __error__="" [10m]))',
  'count_over_time({app="clashing"} | json team="method" | __error__="" [10m])',
  'sum_over_time({app="sparse"} | unwrap status | __error__="" [10m])',
  'sum by (door) (sum_over_time({app="regular", door="push-1"} |= "xxx" | json | unwrap took | __error__="" [10m]))',
  'max_over_time({app="regular", door="push-1"} |= "GET" | regexp `"took":"(?P<took>[0-9.]+)"` | unwrap took [5m]) by (door)',
  'sum by (door) (sum_over_time({app="regular", door="rebuilt-3"} |= "GET" | unwrap took [5m]))',
  'rate({app="mixed"} | regexp `(?P<method>GET|PUT)` [10m])',
];

/**
 * A deep run asks each of the fixed questions of one dataset, and every fourth other question of either dataset; a normal run asks a third
 * to a half of that.
 */
function isAsked(seed: number, index: number): boolean {
  const share = index < always.length ? oneOf(6, 2) : oneOf(9, 4);
  return index % share === seed % share;
}

/** The fixed questions come first; after them the four ways to make a question alternate. */
function questionOf(seed: number, index: number, data: Dataset): MetricRequest | undefined {
  const text = always[index];
  if (text !== undefined) return rangeRequest(text, data.startNs, data.endNs, 300n * second);
  const make = [undefined, parsedQuestion, regularQuestion, ungroupedQuestion][index % 4];
  if (make === undefined) return requestOf(makeQuestion(seed, index, data, families));
  return make(Random.of(seed, index), data);
}

/** Thrown if the only leaf of a request cannot be read in the forced way. */
class NothingToCompare extends Error {}

/**
 * An engine that reads leaves in one way only, or in the cheapest of all ways. If that way declines, it reads all rows of the leaf, unless
 * the request has no other leaf.
 */
class Forced {
  readonly #engine: Engine;
  readonly #pushdown: Pushdown;
  #leaves = 0;

  /** @param nowNs time of the requests; older time segments are remembered */
  constructor(strategy: ReadStrategy | 'cheapest' | undefined, nowNs: bigint) {
    this.#pushdown = strategy === undefined ? 'off' : 'on';
    const forced = strategy === undefined || strategy === 'cheapest' ? [] : [strategy];
    const others: ReadStrategy = {
      ...wholeRowsStrategy,
      estimate: (leaf, known) => {
        const made = wholeRowsStrategy.estimate(leaf, known);
        if (isDeclined(made) || strategy === undefined || this.#leaves > 1) return made;
        return { ...made, read: () => Promise.reject(new NothingToCompare()) };
      },
    };
    const ways = strategy === 'cheapest' ? strategies : [...forced, others];
    const clock = new FakeClock(nowNs);
    const host = makeHost({ metrics: engineMetrics, limits: { maxStatsQuerySeries: 0 }, clock });
    this.#engine = new Engine(optionsOf('response-shape') as never, host, ways);
  }

  /** The values of a request or its error, and the ways in which its leaves were read. */
  async ask(
    account: number,
    request: MetricRequest,
  ): Promise<{ outcome: unknown; tried: readonly string[] }> {
    const { ast } = request.query;
    if (ast.kind === 'log') throw new Error('a log query');
    const { signal } = new AbortController();
    const trace = new Trace();
    const exchange = createExchange({
      id: 'law',
      request,
      caller: makeCaller(),
      signal,
      isFinal: true,
      trace,
    });
    const slots = {
      tenant: makeTenant('law'),
      plan: this.#askedBy(ast),
      upstream: store.upstream(account, signal, trace),
    };
    this.#leaves = leavesOf(slots.plan.tree).length;
    const tried = (): readonly string[] =>
      trace.strategies.map(({ strategy, outcome }) => `${strategy}:${outcome}`);
    try {
      return { outcome: shown(await this.#engine.run(exchange.derive({ slots }))), tried: tried() };
    } catch (error) {
      if (error instanceof NothingToCompare) return { outcome: undefined, tried: tried() };
      if (error instanceof ApiError) return { outcome: errorOf(error, slots.plan), tried: tried() };
      throw error;
    }
  }

  /** The reference does not group samples before it makes their series. */
  #askedBy(ast: MetricExpr): CheckedMetric {
    const asked = askedMetric(ast, this.#pushdown);
    if (this.#pushdown === 'on') return asked;
    const apart = mapLeaves(asked.tree, function* unmerged(leaf) {
      return { ...leaf, merged: undefined };
    });
    return { ...asked, tree: doAll(apart) };
  }

  stop(): Promise<void> {
    return this.#engine.stop();
  }
}

async function dataOf(seed: number, account: number): Promise<Dataset> {
  const data = lawData(seed);
  await load([], store.url, data, new Map([['law', { account: store.stored(account), project: 0 }]]));
  return data;
}

test('every way of reading that does not decline gives what reading all rows gives, at first and again', async (t) => {
  t.timeout(600_000);
  const ran = new Map<string, number>();
  const why = new Map<string, number>();
  for (const seed of [1, 2]) {
    const account = 90_000 + seed;
    const data = await dataOf(seed, account);
    const nowNs = seed === 1 ? endNs + 3600n * second : endNs - 1000n * second;
    const reference = new Forced(undefined, nowNs);
    const forced = [
      ...strategies.map((strategy) => ({ name: strategy.name, engine: new Forced(strategy, nowNs) })),
      { name: 'cheapest', engine: new Forced('cheapest', nowNs) },
    ];
    for (let index = 0; index < runs(70); index += 1) {
      const request = isAsked(seed, index) ? questionOf(seed, index, data) : undefined;
      if (request === undefined) continue;
      const wanted = await reference.ask(account, request);
      for (const { name, engine } of forced) {
        for (const time of ['first', 'second']) {
          const { outcome, tried } = await engine.ask(account, request);
          for (const one of tried) why.set(one, (why.get(one) ?? 0) + 1);
          if (name !== 'cheapest' && !tried.includes(`${name}:ran`)) break;
          ran.set(name, (ran.get(name) ?? 0) + 1);
          t.deepEqual(
            outcome,
            wanted.outcome,
            `${seed}-${index}, ${name}, ${time} time: ${request.query.text}`,
          );
        }
      }
    }
    for (const { engine } of [{ engine: reference }, ...forced]) await engine.stop();
  }
  t.log(Object.fromEntries(ran));
  t.log(Object.fromEntries([...why].sort()));
  t.deepEqual([...ran.keys()].sort(), ['cheapest', ...strategies.map(({ name }) => name)].sort());
});
