/** Stage `cold-route`: reads old data from a second backend (docs/cold-storage.md). */
import type { ColdRouteOptions } from '../../core/base/options.gen.js';
import { defineStage, type Answer, type Exchange, type Rest, type Stage } from '../../core/plugin/index.js';
import { ColdBackend } from './cold-backend.js';
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
    if (!enabled || backend === undefined || backend === '') return new HotOnly();
    return new ColdBackend(backend, options, host);
  },
});

/** Used without a cold backend: all data is in the hot one. */
class HotOnly implements Stage<never, 'cold'> {
  handle(exchange: Exchange, rest: Rest<'cold'>): Promise<Answer> {
    return rest(exchange.derive<'cold'>({ slots: { cold: (hot, _binding, _op, run) => run(hot) } }));
  }
}
