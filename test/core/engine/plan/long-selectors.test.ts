import test from 'ava';
import type { Pacer } from '../../../../core/base/pace/steps.js';
import { readRequest } from '../../../../core/engine/plan/plan.js';
import { matchersSteps } from '../../../../core/logql/index.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { readAhead, Selector, type SeriesRequest } from '../../../../core/wire/api/request.js';

/** Number of steps; other requests run between them. */
function stepsOf(steps: Iterator<void, unknown>): number {
  for (let count = 0; ; count += 1) if (steps.next().done === true) return count;
}

class Told extends Selector {
  isRead = false;

  override async read(pacer: Pacer): Promise<void> {
    await super.read(pacer);
    this.isRead = true;
  }
}

test('many selectors of series are read and planned in steps', async (t) => {
  const selectors = Array.from({ length: 1_000 }, (_none, at) => new Told(`{a=~"x${at}|y.+"}`, 'reject'));
  const request: SeriesRequest = { op: 'series', range: { startNs: 0n, endNs: 1n }, selectors };
  await readAhead(request, new AbortController().signal);
  t.true(selectors.every(({ isRead }) => isRead));
  t.true(stepsOf(readRequest(request, new Naming(namesOptions()))) >= 1_000);
});

test('a long selector is read in steps', (t) => {
  const matchers = Array.from({ length: 9_000 }, (_none, at) => `l${at}!="x"`).join(', ');
  t.true(stepsOf(matchersSteps(`{a="b", ${matchers}}`)) >= 90);
});

test('the error of a selector that was read ahead is thrown when it is used', async (t) => {
  const selectors = [new Selector('{a="b"}', 'reject'), new Selector('{a=', 'reject')];
  const request: SeriesRequest = { op: 'series', range: { startNs: 0n, endNs: 1n }, selectors };
  await readAhead(request, new AbortController().signal);
  t.is(selectors[0]?.matchers.length, 1);
  const error = t.throws(() => selectors[1]?.matchers);
  t.regex(error.message, /^parse error/);
});
