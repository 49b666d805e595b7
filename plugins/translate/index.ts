import { ByteLru } from '../../core/base/memory/byte-lru.js';
import type { TranslateOptions } from '../../core/base/options.gen.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import { SpareTime } from '../../core/cache/spare-time.js';
import { Assumptions } from '../../core/engine/metric/cost.js';
import type { CheckedRequest, PlanSettings } from '../../core/engine/plan/checked-request.js';
import { readRequest } from '../../core/engine/plan/plan.js';
import type { Host } from '../../core/kernel/plugin/host.js';
import { defineStage, type Answer, type Exchange, type Rest, type Stage } from '../../core/plugin/index.js';
import { pauseBehind, Query, readAhead } from '../../core/wire/api/request.js';
import { timeoutSignal } from '../../core/base/time/waits.js';

const firstAnswerMetrics = {
  first_answers_total: {
    type: 'counter',
    help: 'Range queries answered from assumptions, with a warning (-first-answers=prompt).',
  },
  first_answer_checks_total: {
    type: 'counter',
    help: 'Background checks of these assumptions, by outcome: done, failed or timed out, or dropped because the queue was full.',
    labels: ['outcome'],
  },
} as const;

/** The stage that parses requests. */
export default defineStage<TranslateOptions, never, 'plan', typeof firstAnswerMetrics>({
  name: 'translate',
  summary: 'Parses and validates queries and plans their execution',
  needs: [],
  gives: ['plan'],
  rest: 'many',
  metrics: firstAnswerMetrics,
  create(options, host): Stage<never, 'plan'> {
    const settings = { ...options, approxTopk: host.limits.process.approxTopk };
    const first = options.firstAnswers === 'prompt' ? answerFirst(options, host) : undefined;
    return {
      // The parser builds its table on first use, which takes as long as a hundred queries.
      start: async () => new Query(firstQuery, 'reject').read(new Pacer()),
      async handle(exchange, rest) {
        const plan = await askedFor(exchange, host, settings);
        const read = exchange.derive<'plan'>({ slots: { plan } });
        return first === undefined ? rest(read) : first.answer(read, rest);
      },
      stop: () => first?.stop(),
    };
  },
});

const firstQuery = 'sum by (level) (rate({app="a"} |= "b" | json | level="info" [5m]))';

async function askedFor(
  exchange: Exchange,
  { naming, clock }: Pick<Host, 'naming' | 'clock'>,
  settings: PlanSettings,
): Promise<CheckedRequest> {
  const { request, signal } = exchange;
  const startedAt = clock.monotonicMs();
  let outcome = 'error';
  try {
    const tenant = exchange.slots.tenant ?? { id: '' };
    await readAhead(request, signal);
    const steps = readRequest(request, naming.forTenant(tenant), settings);
    const asked = await atPace(steps, new Pacer(signal));
    await pauseBehind(request, signal);
    outcome = 'success';
    return asked;
  } finally {
    exchange.trace.operations.push({
      operation: 'translate',
      outcome,
      durationMs: clock.monotonicMs() - startedAt,
    });
  }
}

/** Maximum length of ranges that are always exact, which covers those of alerts. */
const exactUpToNs = 15n * 60n * 1_000_000_000n;

/** Delay of the event loop above which a process is too busy for a check. */
const strainedMs = 500;

/** Timeout of a check. Its findings are remembered, and the next check continues from there. */
const checkMs = 300_000;
/** Pause after a failed check. */
const retryMs = 600_000;
const maxFailed = 500;
const maxFailedBytes = 1 << 20;

/** Lets range queries be answered before all of their rows have been inspected, and runs that inspection afterwards. */
function answerFirst(
  { firstAnswersMaxRows }: Pick<TranslateOptions, 'firstAnswersMaxRows'>,
  host: Pick<Host<typeof firstAnswerMetrics>, 'clock' | 'strain' | 'log' | 'shared' | 'meters'>,
) {
  const { meters, clock } = host;
  // Checks must also run on a proxy that is never without requests.
  const spare = new SpareTime(host, { isIdle: () => true, strainedMs, waitsAtGates: true });
  /** Queries whose check has failed. */
  const failed = new ByteLru<true>({ maxEntries: maxFailed, maxBytes: maxFailedBytes, clock });
  let running: string | undefined;

  /** Repeats the query in spare time, without assumptions: this proves them, and caches windows of the answer. */
  function check(key: string, exchange: Exchange<'tenant' | 'plan'>, rest: Rest<'plan'>): void {
    if (running === key || failed.get(key) !== undefined) return;
    const { plan } = exchange.slots;
    const isQueued = spare.add(key, exchange, async (detached) => {
      running = key;
      let outcome = 'failed';
      try {
        await rest(detached.derive<'plan'>({ slots: { plan }, signal: timeoutSignal(checkMs) }));
        outcome = 'done';
      } finally {
        running = undefined;
        if (outcome === 'failed') failed.set(key, true, 2 * key.length, retryMs);
        meters.first_answer_checks_total.add(1, { outcome });
      }
    });
    if (!isQueued) meters.first_answer_checks_total.add(1, { outcome: 'dropped' });
  }

  return {
    answer: async (exchange: Exchange<'plan'>, rest: Rest<'plan'>): Promise<Answer> => {
      const { request, slots, caller } = exchange;
      const { plan, tenant } = slots;
      const isLong =
        request.op === 'query_range' && request.range.endNs - request.range.startNs > exactUpToNs;
      const mayAssume =
        isLong && plan.kind === 'metric' && caller.isBackground !== true && tenant !== undefined;
      if (!mayAssume) return rest(exchange);
      const assumptions = new Assumptions(firstAnswersMaxRows, request.range);
      const answer = await rest(exchange.derive<'plan' | 'assumptions'>({ slots: { plan, assumptions } }));
      const { key } = assumptions;
      if (key !== undefined) {
        meters.first_answers_total.add(1, {});
        check(key, exchange.derive<'tenant' | 'plan'>({ slots: { tenant, plan } }), rest);
      }
      return answer;
    },
    stop: () => spare.stop(),
  };
}
