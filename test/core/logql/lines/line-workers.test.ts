import test, { type ExecutionContext } from 'ava';
import { LabelSet } from '../../../../core/base/label-set.js';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { parseQuery } from '../../../../core/logql/index.js';
import { pipelineEvaluator } from '../../../../core/logql/lines/evaluator.js';
import { LineWorkers } from '../../../../core/logql/lines/line-workers.js';
import type { PipelineLine } from '../../../../core/logql/pipeline/types.js';
import { makeLine } from '../../../hostile/queries.js';

/** A stage that takes minutes on this line. */
const endless = '| regexp "(?P<z>(a?){500}a{500}b)"';
const line = makeLine('runs', 1_000_000);

interface Watched {
  readonly workers: LineWorkers;
  readonly outcomes: string[];
  readonly threads: () => number;
}

function watched(t: ExecutionContext, threads: number, timeoutMs: number): Watched {
  const outcomes: string[] = [];
  let running = 0;
  const workers = new LineWorkers({
    threads,
    timeoutMs,
    observer: {
      changed: (count) => {
        running = count;
      },
      ended: (outcome) => outcomes.push(outcome),
    },
  });
  t.teardown(() => {
    workers.close();
  });
  return { workers, outcomes, threads: () => running };
}

function evaluate(
  { workers }: Watched,
  stages: string,
  text: string,
  signal = new AbortController().signal,
): PipelineLine | undefined | Promise<PipelineLine | undefined> {
  const expr = parseQuery(`{app="a"} ${stages}`);
  if (expr.kind !== 'log') throw new Error('not a log query');
  const evaluator = pipelineEvaluator(expr.stages, { workers, signal, limit: -1 });
  return evaluator.of({
    stream: LabelSet.empty,
    structuredMetadata: LabelSet.empty,
    timestampNs: 0n,
    line: text,
  });
}

const asPromise = async <Result>(result: Result | Promise<Result>): Promise<Result> => result;

test('a line that takes too long fails with the limit, and the next one gets a new thread', async (t) => {
  const parts = watched(t, 1, 1_000);
  const error = await t.throwsAsync(asPromise(evaluate(parts, endless, line)), { instanceOf: ApiError });
  t.is(
    error.message,
    'the stages of the query took longer than 1s for one line; simplify its patterns or raise -line-timeout',
  );
  t.is(error.status, 400);
  t.is(parts.threads(), 0);
  t.deepEqual(parts.outcomes, ['timeout']);
});

test('a thread is ended when nobody waits for its line, and the next line gets its place', async (t) => {
  const parts = watched(t, 1, 600_000);
  const [gone, stays] = [new AbortController(), new AbortController()];
  const first = asPromise(evaluate(parts, endless, line, gone.signal));
  const waiting = asPromise(evaluate(parts, endless, line, gone.signal));
  const next = asPromise(evaluate(parts, '| logfmt', 'a=b', stays.signal));
  gone.abort(new Error('gone'));
  await t.throwsAsync(first, { message: 'gone' });
  await t.throwsAsync(waiting, { message: 'gone' });
  t.is((await next)?.parsed.get('a'), 'b');
  t.deepEqual(parts.outcomes.toSorted(), ['aborted', 'aborted', 'done']);
});

test('so many lines may wait for a thread', async (t) => {
  const parts = watched(t, 1, 600_000);
  const all = Array.from({ length: 257 }, () => asPromise(evaluate(parts, endless, line)));
  const error = await t.throwsAsync(asPromise(evaluate(parts, endless, line)), {
    instanceOf: ApiError,
  });
  t.is(error.status, 503);
  t.regex(error.message, /256 are waiting .* raise -line-threads/);
  parts.workers.close();
  const ended = await Promise.allSettled(all);
  t.true(ended.every(({ status }) => status === 'rejected'));
  t.is(parts.threads(), 0);
});

test('errors of templates are the same from a thread', async (t) => {
  const parts = watched(t, 1, 60_000);
  const error = await t.throwsAsync(
    asPromise(evaluate(parts, '| line_format "{{ repeat 70000 __line__ }}"', 'a')),
    { instanceOf: ApiError },
  );
  t.is(error.message, 'line_format output limit exceeded');
  t.is(error.status, 400);
});
