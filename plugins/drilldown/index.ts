/** Stage `drilldown`: answers queries of Logs Drilldown for single fields that arrive close together from one read of their rows. */
import { dataOwner } from '../../core/base/key-parts.js';
import type { DrilldownOptions } from '../../core/base/options.gen.js';
import { createFingerprint } from '../../core/cache/keys.js';
import { countLines } from '../../core/logql/functions/range/index.js';
import type { CheckedMetric } from '../../core/engine/plan/checked-request.js';
import { gatheringKey } from '../../core/engine/plan/metric.js';
import { defineStage, type Exchange, type Host, type Stage } from '../../core/plugin/index.js';
import { Bursts } from './bursts.js';

type Needs = 'tenant' | 'plan';

const metrics = {
  drilldown_gathered_calls_total: {
    type: 'counter',
    help: 'Backend reads that answered several field queries of Logs Drilldown.',
  },
  drilldown_gathered_fields: {
    type: 'histogram',
    help: 'Field queries of Logs Drilldown that were answered in a batch.',
    buckets: [2, 3, 5, 8, 12, 20, 30, 50, 100],
  },
  drilldown_alone_total: {
    type: 'counter',
    help: 'Field queries of Logs Drilldown that could have been batched but ran alone: no other came in time, too many were waiting, or the batch had no answer for them.',
  },
} as const;

export default defineStage<DrilldownOptions, Needs, never, typeof metrics>({
  name: 'drilldown',
  summary: 'Answers field queries of Logs Drilldown that arrive together with one backend read.',
  needs: ['tenant', 'plan'],
  gives: [],
  rest: 'many',
  optional: true,
  metrics,
  create: (options, host) =>
    options.burstWindow > 0 && options.burstMaxFields > 1 ? gathering(options, host) : passThrough,
});

const passThrough: Stage<Needs, never> = { handle: (exchange, rest) => rest(exchange) };

function gathering(options: DrilldownOptions, host: Host<typeof metrics>): Stage<Needs, never> {
  const { meters, naming } = host;
  const fingerprintOf = createFingerprint(options);
  const bursts = new Bursts({
    windowMs: options.burstWindow,
    maxFields: options.burstMaxFields,
    onGathered: (questions) => {
      meters.drilldown_gathered_calls_total.add(1, {});
      meters.drilldown_gathered_fields.observe(questions, {});
    },
  });

  /** A key that is equal for queries that can be read together; undefined for others. */
  function keyOf(
    { request, caller, slots }: Exchange<Needs>,
    { tree, pushdown }: CheckedMetric,
  ): string | undefined {
    if (!caller.isDrilldown || request.op !== 'query_range') return undefined;
    if (tree.kind !== 'leaf' || pushdown === 'off') return undefined;
    const { pushed } = tree.leaf;
    if (tree.leaf.range.op !== countLines) return undefined;
    // Each query groups by exactly one field.
    if (pushed === undefined || pushed.without || pushed.labels.length !== 1) return undefined;
    const { tenant } = slots;
    const rows = gatheringKey(tree.leaf, naming.forTenant(tenant));
    if (rows === undefined) return undefined;
    const { range, stepNs, isPart = false } = request;
    return JSON.stringify([
      dataOwner(tenant, fingerprintOf(caller.headers)),
      tenant.limitIds ?? [],
      [range.startNs, range.endNs, stepNs].map(String),
      isPart,
      rows,
    ]);
  }

  return {
    async handle(exchange, rest) {
      const { plan: asked } = exchange.slots;
      const key = asked.kind === 'metric' ? keyOf(exchange, asked) : undefined;
      if (key === undefined || asked.kind !== 'metric') return rest(exchange);
      const answer = await bursts.ask(key, { exchange, asked, rest });
      if (answer !== undefined) return answer;
      meters.drilldown_alone_total.add(1, {});
      return rest(exchange);
    },
  };
}
