/** Stage `cold-route`: reads old data from a second backend (docs/cold-storage.md). */
import type { ColdRouteOptions } from '../../core/base/options.gen.js';
import { defineStage, type Stage } from '../../core/plugin/index.js';
import { coldBackend } from './cold-backend.js';
import { lint } from './lint.js';
import { coldMetrics } from './metrics.js';

export default defineStage({
  name: 'cold-route',
  summary: 'Reads old data from a second backend and merges it with the first.',
  needs: [],
  gives: ['cold'],
  rest: 'once',
  optional: true,
  metrics: coldMetrics,
  lint,
  create(options: ColdRouteOptions, host): Stage<never, 'cold'> {
    const { enabled, backend } = options;
    if (!enabled || backend === undefined || backend === '') return hotOnly;
    return coldBackend(backend, options, host);
  },
});

/** Used without a cold backend: all data is in the hot one. */
const hotOnly: Stage<never, 'cold'> = {
  handle: (exchange, rest) =>
    rest(exchange.derive<'cold'>({ slots: { cold: (hot, _binding, _op, run) => run(hot) } })),
};
