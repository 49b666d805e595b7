import test from 'ava';
import { LogqlError } from '../../../core/logql/index.js';
import { makeExchange, makeLogAnswer, makeLogRequest, runStage } from '../../../core/testing/index.js';
import translate from '../../../plugins/translate/index.js';

const options = { exactParserSeriesIdentity: false };

test('the stages behind get the plan, and the trace says what it took', async (t) => {
  const exchange = makeExchange({ request: makeLogRequest('{app="a"} |= "x" | json') });
  const run = await runStage(translate, options, exchange, () =>
    Promise.resolve(makeLogAnswer({ app: 'a' }, ['x'])),
  );
  const plan = run.seen[0]?.slots.plan;
  t.is(plan?.kind, 'logs');
  t.deepEqual(plan?.kind === 'logs' ? plan.residual.map(({ kind }) => kind) : [], ['json']);
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
