import type { TranslateOptions } from '../../core/base/options.gen.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { atPace } from '../../core/base/pace/steps.js';
import { planSteps } from '../../core/engine/plan/request.js';
import type { PlanSettings } from '../../core/engine/plan/settings.js';
import type { Plan } from '../../core/engine/plan/types.js';
import type { Host } from '../../core/kernel/plugin/host.js';
import { defineStage, type Exchange, type Stage } from '../../core/plugin/index.js';
import { Query } from '../../core/wire/api/query.js';
import { pauseBehind, readAhead } from '../../core/wire/api/read-ahead.js';
import { FirstAnswers, firstAnswerMetrics } from './first-answers.js';

/** The stage that plans a request in the backend's terms. */
export default defineStage<TranslateOptions, never, 'plan', typeof firstAnswerMetrics>({
  name: 'translate',
  summary: 'Turns a request into a plan: what the backend filters, and what is evaluated here',
  needs: [],
  gives: ['plan'],
  rest: 'many',
  metrics: firstAnswerMetrics,
  create(options, host): Stage<never, 'plan'> {
    const settings = { ...options, approxTopk: host.limits.process.approxTopk };
    const first = options.firstAnswers === 'prompt' ? new FirstAnswers(options, host) : undefined;
    return {
      // The parser builds its table on first use, which takes as long as a hundred queries.
      start: async () => new Query(firstQuery, 'reject').read(new Pacer()),
      async handle(exchange, rest) {
        const plan = await planned(exchange, host, settings);
        const planning = exchange.derive<'plan'>({ slots: { plan } });
        return first === undefined ? rest(planning) : first.answer(planning, rest);
      },
      stop() {
        first?.stop();
        return Promise.resolve();
      },
    };
  },
});

const firstQuery = 'sum by (level) (rate({app="a"} |= "b" | json | level="info" [5m]))';

async function planned(
  exchange: Exchange,
  { naming, clock }: Pick<Host, 'naming' | 'clock'>,
  settings: PlanSettings,
): Promise<Plan> {
  const { request, signal } = exchange;
  const startedAt = clock.monotonicMs();
  let outcome = 'error';
  try {
    const tenant = exchange.slots.tenant ?? { id: '' };
    await readAhead(request, signal);
    const steps = planSteps(request, naming.forTenant(tenant), settings);
    const plan = await atPace(steps, new Pacer(signal));
    await pauseBehind(request, signal);
    outcome = 'success';
    return plan;
  } finally {
    exchange.trace.operations.push({
      operation: 'translate',
      outcome,
      durationMs: clock.monotonicMs() - startedAt,
    });
  }
}
