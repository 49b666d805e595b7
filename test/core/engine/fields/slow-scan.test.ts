import test from 'ava';
import { startDevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { withProxyFile } from '../../../../core/testing/index.js';
import { pushLoki } from '../../../plugins/embedded-backend/harness.js';

interface Fields {
  readonly fields: readonly { readonly label: string }[];
  readonly warnings?: readonly string[];
}
interface Values {
  readonly values: readonly string[];
  readonly warnings?: readonly string[];
}

const warnings = ['partial response: fields are those of the lines read within -drilldown-scan-timeout=3s'];

test.serial(
  'a scan for fields that the backend is slow to answer ends in time, with what has come',
  async (t) => {
    const backend = await startDevBackend({ faults: true });
    try {
      const nowNs = BigInt(Date.now()) * 1_000_000n;
      const lines = Array.from({ length: 600 }, (_none, index): [bigint, string] => [
        nowNs - 60_000_000_000n + BigInt(index),
        `{"user":"u${index}"}`,
      ]);
      await pushLoki(backend.url, { app: 'a' }, lines);
      await fetch(`${backend.url}/-/faults`, {
        method: 'POST',
        body: JSON.stringify({ path: '/select/logsql/query', trickleMs: 50 }),
      });
      const flags = { backend: backend.url, 'drilldown-scan-timeout': '3s' };
      await withProxyFile(
        'pipelines/reference-compatible.yaml',
        async ({ url }) => {
          const query = encodeURIComponent('{app="a"}');
          const get = async (path: string): Promise<unknown> => {
            const answer = await fetch(`${url}/loki/api/v1/${path}?query=${query}`);
            t.is(answer.status, 200);
            return answer.json();
          };
          const found = (await get('detected_fields')) as Fields;
          t.true(found.fields.some(({ label }) => label === 'user'));
          t.deepEqual(found.warnings, warnings);
          const listed = (await get('detected_field/user/values')) as Values;
          t.true(listed.values.length > 0 && listed.values.length < lines.length);
          t.deepEqual(listed.warnings, warnings);
        },
        { flags },
      );
    } finally {
      await backend.close();
    }
  },
);
