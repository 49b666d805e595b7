import { fileURLToPath } from 'node:url';
import test from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile } from '../../../core/testing/index.js';
import { metricIs } from './metric-is.js';

const pipeline = fileURLToPath(new URL('../../../../pipelines/reference-compatible.yaml', import.meta.url));

test('fewer requests run while the backend is late, and more again when it is not', async (t) => {
  const backend = await startDevBackend({ faults: true });
  const fault = (path: string, more: object): Promise<Response> =>
    fetch(`${backend.url}/-/faults`, { method: 'POST', body: JSON.stringify({ path, ...more }) });
  const flags = {
    backend: backend.url,
    'max-concurrent': '40',
    'server.register-instrumentation': 'true',
  };
  try {
    await withProxyFile(
      pipeline,
      async ({ url }) => {
        const gone = new AbortController();
        await fault('/select/logsql/stream_field_values', { hang: true });
        const hanging = Array.from({ length: 6 }, (_, index) =>
          fetch(`${url}/loki/api/v1/label/app/values?start=${index + 1}`, { signal: gone.signal }),
        );
        const ended = Promise.allSettled(hanging);
        await metricIs(url, 'ref_proxy_guard_limit', (limit) => limit > 10);
        // The proxy must know the normal duration of a probe first.
        await metricIs(url, 'ref_proxy_backend_delay_seconds_count', (looks) => looks > 0);
        await fault('/health', { hang: true });
        await metricIs(url, 'ref_proxy_backend_delay_seconds_sum', (seconds) => seconds > 0.5);
        await metricIs(url, 'ref_proxy_guard_limit', (limit) => limit === 2);
        await fetch(`${backend.url}/-/faults`, { method: 'DELETE' });
        await metricIs(url, 'ref_proxy_guard_limit', (limit) => limit > 10);
        t.pass();
        gone.abort();
        await ended;
      },
      { flags },
    );
  } finally {
    await backend.close();
  }
});
