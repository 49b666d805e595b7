import type { TranslateOptions } from '../../core/base/options.gen.js';
import { SpareTime } from '../../core/cache/spare-time.js';
import { Assumptions } from '../../core/engine/assumptions.js';
import type { Host } from '../../core/kernel/plugin/host.js';
import type { Answer, Exchange, Rest } from '../../core/plugin/index.js';

/** Ranges up to this are short enough for alerts, which are always exact. */
const exactUpToNs = 15n * 60n * 1_000_000_000n;

/** Later than this, a process has too much to do for a check. */
const strainedMs = 500;

/** Lets range queries be answered before all of their rows have been checked, and has the check made afterwards. */
export class FirstAnswers {
  readonly #maxRows: number;
  readonly #spare: SpareTime;

  constructor(
    { firstAnswersMaxRows }: Pick<TranslateOptions, 'firstAnswersMaxRows'>,
    host: Pick<Host, 'clock' | 'strain' | 'log' | 'shared'>,
  ) {
    this.#maxRows = firstAnswersMaxRows;
    // Checks have to be made on a proxy that always has requests, too.
    this.#spare = new SpareTime(host, { isIdle: () => true, strainedMs, waitsAtGates: true });
  }

  async answer(exchange: Exchange<'plan'>, rest: Rest<'plan'>): Promise<Answer> {
    const { request, slots, caller } = exchange;
    const { plan, tenant } = slots;
    const isLong = request.op === 'query_range' && request.range.endNs - request.range.startNs > exactUpToNs;
    const mayAssume =
      isLong && plan.kind === 'metric' && caller.isBackground !== true && tenant !== undefined;
    if (!mayAssume) return rest(exchange);
    const assumptions = new Assumptions(this.#maxRows, request.range);
    const answer = await rest(exchange.derive<'plan' | 'assumptions'>({ slots: { plan, assumptions } }));
    const { key } = assumptions;
    if (key !== undefined)
      // The same request, without assumptions: it proves them, and its windows are kept.
      this.#spare.add(key, exchange.derive<'tenant'>({ slots: { tenant } }), async (detached) => {
        await rest(detached.derive<'plan'>({ slots: { plan } }));
      });
    return answer;
  }

  stop(): void {
    this.#spare.stop();
  }
}
