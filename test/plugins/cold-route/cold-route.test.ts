import test from 'ava';
import type { ColdRouteOptions } from '../../../core/base/options.gen.js';
import { makeExchange, makeLogAnswer, optionsOf, runStage } from '../../../core/testing/index.js';
import coldRoute from '../../../plugins/cold-route/index.js';

test('every exchange of the cold route goes on as it is, once', async (t) => {
  const exchange = makeExchange();
  const answer = makeLogAnswer({ app: 'a' }, ['line']);
  // The schema's own reading of the values, which is what the type describes.
  const options = optionsOf('cold-route') as unknown as ColdRouteOptions;
  const run = await runStage(coldRoute, options, exchange, () => Promise.resolve(answer));
  t.is(run.answer, answer);
  t.deepEqual(run.seen, [exchange]);
});
