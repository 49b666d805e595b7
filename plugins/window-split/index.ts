/** Stage `window-split`: answers long range queries from time windows, which are cached once they no longer change. */
import { ApiError } from '../../core/base/errors/api-error.js';
import { ByteLru } from '../../core/base/memory/byte-lru.js';
import type { WindowSplitOptions } from '../../core/base/options.gen.js';
import { answerStore } from '../../core/cache/answer-store.js';
import { createCacheKeys } from '../../core/cache/keys.js';
import {
  defineStage,
  type Answer,
  type Exchange,
  type Host,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';
import { LineCounts } from './line-counts.js';
import { lint } from './lint.js';
import { answerLogWindows } from './logs.js';
import { answerMetricWindows } from './metric.js';
import { windowMetrics } from './metrics.js';
import { Parallelism } from './parallelism.js';
import { neighbourWarmer, type Neighbourhood } from './warmer.js';
import { FallBackToWholeRange, Windowing, type WindowingDeps } from './windowing.js';

/** Maximum number of remembered queries, and their bytes. */
const maxAsked = 2000;
const maxAskedBytes = 2 << 20;

type Needs = 'tenant' | 'plan';

export default defineStage<WindowSplitOptions, Needs, never, typeof windowMetrics>({
  name: 'window-split',
  summary: 'Splits long range queries into time windows and caches them.',
  needs: ['tenant', 'plan'],
  gives: [],
  rest: 'many',
  optional: true,
  keepsAnswers: true,
  metrics: windowMetrics,
  lint,
  create: (options, host) =>
    options.enabled && !options.cacheDisabled ? windowSplit(options, host) : passThrough,
});

const passThrough: Stage<Needs, never> = { handle: (exchange, rest) => rest(exchange) };

function windowSplit(options: WindowSplitOptions, host: Host<typeof windowMetrics>): Stage<Needs, never> {
  const { clock } = host;
  const deps: WindowingDeps = {
    options,
    host,
    store: answerStore(options, host),
    counts: new LineCounts(options.historyRevalidate || options.historyCacheTtl, clock),
    parallelism: new Parallelism(options, () => clock.monotonicMs()),
    keys: createCacheKeys(options),
    asked: new ByteLru({ maxEntries: maxAsked, maxBytes: maxAskedBytes, clock }),
    densities: new ByteLru({ maxEntries: maxAsked, maxBytes: maxAskedBytes, clock }),
  };
  /** Number of requests with waiting callers. */
  let running = 0;
  const warmer =
    options.backgroundWarm && options.backgroundWarmMaxWindows > 0
      ? neighbourWarmer(options, host, () => running === 0, windowed)
      : undefined;

  async function windowed(exchange: Exchange<Needs>, rest: Rest): Promise<Windowed | undefined> {
    const { request, slots } = exchange;
    if (request.op !== 'query_range') return undefined;
    const { ast } = request.query;
    const windowing = new Windowing(deps, exchange, request, rest);
    try {
      if (ast.kind === 'log') {
        const answer = await answerLogWindows(ast, request, windowing);
        return answer && { answer };
      }
      if (slots.plan.kind !== 'metric') return undefined;
      const answer = await answerMetricWindows(slots.plan, request, windowing);
      const { question, windows } = windowing;
      return answer && { answer, neighbourhood: { exchange, request, rest, question, windows } };
    } finally {
      windowing.kept.giveUp();
    }
  }

  return {
    async handle(exchange, rest) {
      running += 1;
      try {
        const answered = await windowed(exchange, rest);
        if (answered === undefined) return await rest(exchange);
        if (answered.neighbourhood !== undefined) warmer?.answered(answered.neighbourhood);
        return answered.answer;
      } catch (error) {
        // The rejection of a part may concern the time around the requested range, and is less specific than that of the whole.
        if (exchange.signal.aborted || !isOfThePart(error)) throw error;
        return await rest(exchange);
      } finally {
        running -= 1;
      }
    },
    async purge(_scope, tenantId) {
      deps.counts.clear();
      await deps.store.purge(tenantId);
    },
    stop: () => warmer?.stop(),
  };
}

interface Windowed {
  readonly answer: Answer;
  /** The neighbourhood of the windows; undefined for logs, where a limit determines how far back is read. */
  readonly neighbourhood?: Neighbourhood;
}

function isOfThePart(error: unknown): boolean {
  return error instanceof FallBackToWholeRange || (error instanceof ApiError && error.status < 499);
}
