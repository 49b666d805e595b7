import type { BackendOptions } from '../../core/base/options.gen.js';
import { defineStage } from '../../core/plugin/index.js';
import { backendMetrics } from './metrics.js';
import { BackendStage } from './stage.js';

/** The stage that owns the connections to VictoriaLogs and provides them to later stages, bound to their exchange. */
export default defineStage({
  name: 'backend',
  summary: 'Calls VictoriaLogs: connections, timeout, retry, circuit breaker, forwarded credentials',
  needs: ['tenant'],
  gives: ['upstream'],
  // Runs again without the cold backend, if that fails and answers may be partial.
  rest: 'many',
  metrics: backendMetrics,
  create: (options: BackendOptions, host) => new BackendStage(options, host),
});
