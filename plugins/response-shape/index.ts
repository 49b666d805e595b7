import type { ResponseShapeOptions } from '../../core/base/options.gen.js';
import { Engine } from '../../core/engine/engine.js';
import { engineMetrics } from '../../core/engine/metrics.js';
import { defineStage } from '../../core/plugin/index.js';
import { keptFacts } from './kept-facts.js';

/** The last stage: the engine executes the plan, and the answer has Loki's format. */
export default defineStage({
  name: 'response-shape',
  summary:
    'Evaluates the stages that the backend cannot, and converts backend rows to Loki’s response format',
  needs: ['tenant', 'plan', 'upstream'],
  gives: [],
  rest: 'never',
  metrics: engineMetrics,
  create(options: ResponseShapeOptions, host) {
    const engine = new Engine(options, host);
    const facts = keptFacts(options.factsPersistPath, engine.facts, host);
    return {
      start: () => facts.start(),
      handle: (exchange) => engine.run(exchange),
      purge: async (scope, tenantId) => {
        if (scope === 'all') await facts.forget(tenantId);
      },
      stop: async () => {
        await facts.stop();
        await engine.stop();
      },
    };
  },
});
