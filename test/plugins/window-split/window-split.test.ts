import test from 'ava';
import type { WindowSplitOptions } from '../../../core/base/options.gen.js';
import { makeExchange, makeLogAnswer, optionsOf, runStage } from '../../../core/testing/index.js';
import windowSplit from '../../../plugins/window-split/index.js';

test('every exchange of window-split goes on as it is, once', async (t) => {
  const exchange = makeExchange();
  const answer = makeLogAnswer({ app: 'a' }, ['line']);
  // The schema's own reading of the values, which is what the type describes.
  const options = optionsOf('window-split') as unknown as WindowSplitOptions;
  const run = await runStage(windowSplit, options, exchange, () => Promise.resolve(answer));
  t.is(run.answer, answer);
  t.deepEqual(run.seen, [exchange]);
});
