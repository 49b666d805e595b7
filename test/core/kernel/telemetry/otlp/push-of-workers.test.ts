import test from 'ava';
import { askBoth, startWorkers, stop } from '../../../program/workers-under.js';
import { metricsOf, spansIn, withReceiver, type Metric, type Pushed } from './receiver.js';

test.serial(
  'the first of several processes pushes what all have measured, once, and each its spans',
  async (t) => {
    await withReceiver(
      () => ({ status: 200 }),
      async ({ url, has, pushed }) => {
        const flags = [`-otlp-endpoint=${url}`, '-otlp-interval=1s', `-otlp-traces-endpoint=${url}`];
        const under = await startWorkers('http://127.0.0.1:9', ...flags);
        const traceparent = `00-${'7'.repeat(32)}-${'3'.repeat(16)}-01`;
        const { texts } = await askBoth(under, '/loki/api/v1/query?query=1%2B1', { traceparent });
        const one = await has((each) => workersIn(each) === 2);
        t.true(metricsOf(one).some(({ name }) => name === 'ref_proxy_uptime_seconds'));
        t.is(new Set(pushed.flatMap((each) => metricsOf(each).map(workersOf)).filter(Boolean)).size, 1);
        await stop(under);
        // Both workers have answered, so all of these spans arrive only if each worker has pushed its own.
        const spans = pushed.filter(({ path }) => path === '/v1/traces').flatMap(spansIn);
        const own = spans.filter(({ traceId }) => traceId === '7'.repeat(32));
        for (const name of ['GET /loki/api/v1/query', 'stage tenancy'])
          t.is(own.filter((span) => span.name === name).length, texts.length, name);
        // Scrapes between workers do not belong to the trace.
        t.true(spans.every((span) => own.includes(span) || span.name.includes('/_cache/')));
      },
    );
  },
);

function workersOf({ name, gauge }: Metric): number | undefined {
  return name === 'ref_proxy_workers' ? gauge?.dataPoints[0]?.asDouble : undefined;
}
function workersIn(pushed: Pushed): number | undefined {
  return metricsOf(pushed)
    .map(workersOf)
    .find((count) => count !== undefined);
}
