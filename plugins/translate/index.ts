import type { TranslateOptions } from '../../core/options/options.gen.js';
import type { Pushdown } from '../../core/plan/metric.js';
import { planRequest } from '../../core/plan/request.js';
import type { Plan } from '../../core/plan/types.js';
import { defineStage, type Exchange, type Rest, type Stage } from '../../core/plugin/index.js';
import type { Host } from '../../core/plugin/host.js';

/** The stage that says what a request means in the backend's terms. */
export default defineStage<TranslateOptions, never, 'plan'>({
  name: 'translate',
  summary: 'Turns a request into a plan: what the backend filters, and what is evaluated here',
  needs: [],
  gives: ['plan'],
  rest: 'once',
  create: ({ pushdown }, host): Stage<never, 'plan'> => ({
    handle: (exchange, rest) => translate(exchange, rest, host, pushdown),
  }),
});

async function translate(
  exchange: Exchange,
  rest: Rest<'plan'>,
  host: Pick<Host, 'naming' | 'clock'>,
  pushdown: Pushdown,
): ReturnType<Rest> {
  const plan = planned(exchange, host, pushdown);
  return rest(exchange.derive<'plan'>({ slots: { plan } }));
}

function planned(
  exchange: Exchange,
  { naming, clock }: Pick<Host, 'naming' | 'clock'>,
  pushdown: Pushdown,
): Plan {
  const startedAt = clock.monotonicMs();
  let outcome = 'error';
  try {
    const tenant = exchange.slots.tenant?.id ?? '';
    const plan = planRequest(exchange.request, naming.forTenant(tenant), pushdown);
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
