import test from 'ava';
import fc from 'fast-check';
import { metricPlan } from './planned.js';
import { metricRules } from '../../../../core/engine/plan/rules/metric.js';
import type { Verdict } from '../../../../core/engine/plan/rules/rule.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { leavesOf } from '../../../../core/logql/metric/index.js';
import type { LogsqlQuery } from '../../../../core/victoria/logsql/ast.js';
import { united } from '../../../../core/victoria/logsql/build.js';
import { printPipe } from '../../../../core/victoria/logsql/print.js';
import { MetricStore, naming, rangeRequest, valuesOf, type StoredEntry } from '../metric/metric-store.js';
import { deepRuns } from '../../../setup/runs.js';

const base = 1793491200000000000n;
const second = 1_000_000_000n;
const range = { startNs: base, endNs: base + 900n * second };

let store: MetricStore;
let account = 80_000;
test.before(async () => {
  store = await MetricStore.open();
});
test.after.always(() => store.close());

/** Most lines are similar, as one program writes them; no row repeats, and every row has a line. */
const usual = (n: number): string => `{"user":"u${n % 2}","level":"warn","msg":"timeout"}`;
const unusual: readonly ((n: number) => string)[] = [
  () => '{"user":"u1","user":"u2","msg":"an error"}',
  () => '{"us\\u0065r":"u2","msg":"timeout"}',
  (n) => `{"msg":"level=debug","n":${n % 2}}`,
];
const entry = fc
  .record({
    stream: fc.constantFrom({ pod: 'a' }, { pod: 'b' }, { pod: 'b', level: 'info' }, {}),
    line: fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, fc.constantFrom(...unusual)),
    metadata: fc.constantFrom({}, { took: '12' }, { pod: 'c' }, { severity: 'error', took: '3' }),
  })
  .map(({ stream, line, metadata }) => (n: number): StoredEntry => ({
    ns: base + BigInt(n) * second,
    stream: { namespace: 'shop', ...stream },
    line: line(n),
    metadata,
  }));
const stores = fc
  .array(entry, { minLength: 60, maxLength: 80 })
  .map((made) => made.map((at, n) => at(n * 7)));

/** True if the request reads more of lines than filters match in them. */
function looksAtLines(asked: LogsqlQuery): boolean {
  return united(asked).some(
    ({ pipes }) =>
      pipes.length === 0 ||
      pipes.some((pipe) =>
        pipe.kind === 'stats'
          ? pipe.by.some(({ field }) => field === '_msg')
          : printPipe(pipe).includes('_msg'),
      ),
  );
}

for (const { id, verdict, example } of metricRules) {
  test.serial(`${id} is ${verdict}, as its example over stored rows shows`, async (t) => {
    const text = typeof example === 'string' ? example : example.query;
    const expr = parseQuery(text);
    if (expr.kind === 'log') return t.fail('a log query');
    const [leaf] = leavesOf(metricPlan(expr, naming).tree);
    t.is(leaf?.rule.id, id, 'the example does not fall under the rule');
    let [isCounted, seesLines] = [false, false];
    for (const entries of fc.sample(stores, deepRuns(1, 3))) {
      account += 1;
      await store.push(account, entries);
      const request = rangeRequest(text, range.startNs, range.endNs, 30n * second);
      const on = await store.run(request, {
        account,
        asked: (query) => (seesLines ||= looksAtLines(query)),
      });
      isCounted ||= on.tried.includes('statistics:ran');
      const off = await store.run(request, { account, pushdown: 'off' });
      t.deepEqual(valuesOf(on.answer), valuesOf(off.answer), 'counts are not those of the rows');
      t.true(Object.keys(valuesOf(off.answer)).length > 0);
    }
    const seen: Verdict = !isCounted ? 'none' : seesLines ? 'superset' : 'exact';
    t.is(seen, verdict);
  });
}

test.serial(
  'values are not counted as lines, groups not by the labels that a grouping leaves out, and series not without those of a parser',
  async (t) => {
    account += 1;
    const entries = Array.from({ length: 60 }, (_none, n): StoredEntry => ({
      ns: base + BigInt(n * 10) * second,
      stream: { namespace: 'shop', pod: `p${n % 2}` },
      line: usual(n),
      metadata: n < 20 ? { took: String(n) } : {},
    }));
    await store.push(account, entries);
    for (const text of [
      'sum(rate({namespace="shop"} | unwrap took [1m]))',
      'sum by (pod) (rate({namespace="shop"} | unwrap took [1m]))',
      'absent_over_time({namespace="shop"} | unwrap took [1m])',
      'sum without (pod) (count_over_time({namespace="shop"}[1m]))',
      'count_over_time({namespace="shop"} | regexp `(?P<user>u[0-9]+)"` [1m])',
    ]) {
      const request = rangeRequest(text, range.startNs, range.endNs, 30n * second);
      const on = await store.run(request, { account });
      const off = await store.run(request, { account, pushdown: 'off' });
      t.true(Object.keys(valuesOf(off.answer)).length > 0, text);
      t.deepEqual(valuesOf(on.answer), valuesOf(off.answer), text);
    }
  },
);
