import test from 'ava';
import { readCases } from './cases.js';
import { replay } from './replay.js';
import { openProxy, openStore } from './target.js';

/** Families that must pass whole, with the cases of them that wait for metric queries. */
const required: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['selector', new Set<string>()],
  ['line-filter', new Set<string>()],
  ['limit-direction', new Set<string>()],
  ['labels', new Set<string>()],
  ['label-values', new Set<string>()],
  ['series', new Set<string>()],
  ['time-bounds', new Set(['time-bounds-024'])],
  ['index-stats', new Set<string>()],
  ['format-query', new Set<string>()],
]);
/** The same of the OpenTelemetry set. */
const requiredOtel: readonly string[] = [
  'otel-selector',
  'otel-labels',
  'otel-values',
  'otel-series',
  'otel-stats',
];

test('log queries and listings answer as the recorded Loki did', async (t) => {
  const store = await openStore(process.env['BACKEND_URL'], true);
  try {
    const proxy = await openProxy(store);
    try {
      const http = readCases('http').filter(({ request }) => required.has(request.family));
      const otel = readCases('otel').filter(
        ({ request }) => request.exact !== false && requiredOtel.includes(request.family),
      );
      const counted = [...http, ...otel].filter(
        ({ request }) => required.get(request.family)?.has(request.id) !== true,
      );
      const failed = (await replay(proxy.urls.main, counted)).filter(
        ({ difference }) => difference !== undefined,
      );
      t.deepEqual(
        failed.map(({ request, difference }) => `${request.id}: ${difference ?? ''}`),
        [],
      );
      t.true(counted.length > 170);
    } finally {
      await proxy.close();
    }
  } finally {
    await store.close();
  }
});
