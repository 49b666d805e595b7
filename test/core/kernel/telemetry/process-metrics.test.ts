import test from 'ava';
import { Registry } from 'prom-client';
import { processMetrics, registerProcessMetrics } from '../../../../core/kernel/telemetry/process-metrics.js';

test('every figure of the process that is documented is exposed, with and without the prefix', async (t) => {
  const registry = new Registry();
  registerProcessMetrics(registry);
  const names = (await registry.getMetricsAsJSON()).map(({ name }) => name);
  const documented = Object.keys(processMetrics());
  t.deepEqual(names.toSorted(), [...documented, ...documented.map((name) => `ref_proxy_${name}`)].toSorted());
});
