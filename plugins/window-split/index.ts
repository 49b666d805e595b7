/** Stage `window-split`: answers long range queries from time windows, which are kept once they no longer change. */
import { ApiError } from '../../core/base/errors/api-error.js';
import type { WindowSplitOptions } from '../../core/base/options.gen.js';
import { answerStore } from '../../core/cache/answer-store.js';
import { createCacheKeys } from '../../core/cache/keys.js';
import {
  defineStage,
  type Answer,
  type Exchange,
  type Host,
  type PurgeScope,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';
import { LineCounts } from './line-counts.js';
import { answerLogs } from './logs.js';
import { answerMetric } from './metric.js';
import { windowMetrics } from './metrics.js';
import { Parallelism } from './parallelism.js';
import { AskWhole, Windowing, type WindowHouse } from './windowing.js';

type Needs = 'tenant' | 'plan';

export default defineStage<WindowSplitOptions, Needs, never, typeof windowMetrics>({
  name: 'window-split',
  summary: 'Answers long range queries from time windows that are kept.',
  needs: ['tenant', 'plan'],
  gives: [],
  rest: 'many',
  optional: true,
  metrics: windowMetrics,
  create: (options, host) =>
    options.enabled && !options.cacheDisabled ? new WindowSplit(options, host) : passThrough,
});

const passThrough: Stage<Needs, never> = { handle: (exchange, rest) => rest(exchange) };

class WindowSplit implements Stage<Needs, never> {
  readonly #house: WindowHouse;

  constructor(options: WindowSplitOptions, host: Host<typeof windowMetrics>) {
    const { clock } = host;
    this.#house = {
      options,
      host,
      store: answerStore(options, host),
      counts: new LineCounts(options.historyRevalidate || options.historyCacheTtl, clock),
      parallelism: new Parallelism(options, () => clock.monotonicMs()),
      keys: createCacheKeys(options),
    };
  }

  async handle(exchange: Exchange<Needs>, rest: Rest): Promise<Answer> {
    try {
      return (await this.#windowed(exchange, rest)) ?? (await rest(exchange));
    } catch (error) {
      // What a part is refused for may be about the time around what was asked, and says less than the refusal of the whole.
      if (exchange.signal.aborted || !isOfThePart(error)) throw error;
      return rest(exchange);
    }
  }

  async purge(_scope: PurgeScope, tenantId?: string): Promise<void> {
    this.#house.counts.clear();
    await this.#house.store.purge(tenantId);
  }

  async #windowed(exchange: Exchange<Needs>, rest: Rest): Promise<Answer | undefined> {
    const { request, slots } = exchange;
    if (request.op !== 'query_range') return undefined;
    const { ast } = request.query;
    const windowing = new Windowing(this.#house, exchange, request, rest);
    if (ast.kind === 'log') return answerLogs(ast, request, windowing);
    return slots.plan.kind === 'metric' ? answerMetric(slots.plan, request, windowing) : undefined;
  }
}

function isOfThePart(error: unknown): boolean {
  return error instanceof AskWhole || (error instanceof ApiError && error.status < 499);
}
