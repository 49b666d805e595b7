import test from 'ava';
import { LogqlError } from '../../../core/logql/index.js';
import { printFilter } from '../../../core/victoria/logsql/print.js';
import { makeExchange, makeLogAnswer, makeLogRequest, runStage } from '../../../core/testing/index.js';
import { Naming } from '../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../core/testing/options.js';
import { logsPlan } from '../../core/engine/plan/planned.js';
import translate from '../../../plugins/translate/index.js';

const options = {
  exactParserSeriesIdentity: false,
  pushdown: 'on',
  filters: 'loki',
  firstAnswers: 'exact',
  firstAnswersMaxRows: 1_000_000,
} as const;

test('the stages behind get the parsed query, and the trace says what it took', async (t) => {
  const exchange = makeExchange({ request: makeLogRequest('{app="a"} |= "x" | json') });
  const run = await runStage(translate, options, exchange, () =>
    Promise.resolve(makeLogAnswer({ app: 'a' }, ['x'])),
  );
  const plan = run.seen[0]?.slots.plan;
  t.is(plan?.kind, 'logs');
  t.deepEqual(plan?.kind === 'logs' ? plan.expr.stages.map(({ kind }) => kind) : [], ['line-filter', 'json']);
  t.like(exchange.trace.operations[0], { operation: 'translate', outcome: 'success' });
});

test('a query that is no LogQL is refused before anything behind is asked', async (t) => {
  const exchange = makeExchange({ request: makeLogRequest('{app="a"') });
  await t.throwsAsync(runStage(translate, options, exchange), {
    instanceOf: LogqlError,
    message: /^parse error at line 1, col 9/,
  });
  t.like(exchange.trace.operations[0], { operation: 'translate', outcome: 'error' });
});

test('what is asked for says whether pushdown is off', async (t) => {
  const off = { ...options, pushdown: 'off' } as const;
  const logs = makeExchange({ request: makeLogRequest('{app="a"} |= "x" | json') });
  const run = await runStage(translate, off, logs, () => Promise.resolve(makeLogAnswer({ app: 'a' }, ['x'])));
  const plan = run.seen[0]?.slots.plan;
  t.is(plan?.kind === 'logs' ? plan.pushdown : undefined, 'off');
});

test('what regexps in filters mean is a question of the option, for the backend and for what is evaluated here', async (t) => {
  const told = async (filters: 'loki' | 'exact'): Promise<readonly [string, readonly unknown[]]> => {
    const exchange = makeExchange({
      request: makeLogRequest('{app="a"} |~ "pay.*(ment|roll)" | json | v=~"pay.*"'),
    });
    const run = await runStage(translate, { ...options, filters }, exchange, () =>
      Promise.resolve(makeLogAnswer({ app: 'a' }, ['x'])),
    );
    const plan = run.seen[0]?.slots.plan;
    if (plan?.kind !== 'logs') throw new Error('no query for logs');
    const { filter, residual } = logsPlan(plan.expr, new Naming(namesOptions()));
    return [
      printFilter(filter),
      residual.map((stage) => stage.kind === 'label-filter' && 'isExact' in stage.filter),
    ];
  };
  const [loki, exact] = [await told('loki'), await told('exact')];
  t.true(loki[0].includes('_msg:*"payment"*'));
  t.true(exact[0].includes('_msg:~"(?-s)pay.*(ment|roll)"'));
  t.deepEqual(loki[1], [false, false]);
  t.deepEqual(exact[1], [false, true]);
});
