import test, { type ExecutionContext } from 'ava';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { FakeClock, withProxyFile } from '../../../core/testing/index.js';
import { pushLoki } from '../embedded-backend/harness.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

interface Case {
  readonly flags?: Readonly<Record<string, string>>;
  /** Time since the end of the range; `isEmpty` marks a range without data. */
  readonly agoMs: number;
  readonly isEmpty?: true;
  readonly keptMs: number;
}

/** Sends the request twice within the TTL of the answer, and once after it, with both caches and with one of them. */
async function isKept(t: ExecutionContext, { flags = {}, agoMs, isEmpty, keptMs }: Case): Promise<void> {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  const clock = new FakeClock(BigInt(Date.now()) * 1_000_000n);
  const endNs = clock.nowNs() - BigInt(agoMs) * 1_000_000n;
  const stream = { app: 'a' };
  if (isEmpty !== true) await pushLoki(backend.url, stream, [[endNs - 1_000_000_000n, 'one']]);
  const startNs = endNs - BigInt(hourMs) * 1_000_000n;
  const range = new URLSearchParams({ start: startNs.toString(), end: endNs.toString() });
  for (const tier0 of ['true', 'false']) {
    await withProxyFile(
      'pipelines/reference-compatible.yaml',
      async ({ url }) => {
        const asked = async (): Promise<number> => {
          const before = backend.stats().calls['/select/logsql/stream_field_names'] ?? 0;
          const answer = await fetch(`${url}/loki/api/v1/labels?${range.toString()}`);
          t.is(answer.status, 200);
          t.is(/app/.test(await answer.text()), isEmpty !== true);
          return (backend.stats().calls['/select/logsql/stream_field_names'] ?? 0) - before;
        };
        t.is(await asked(), 1);
        clock.advance(keptMs - 1);
        t.is(await asked(), 0);
        clock.advance(1);
        t.is(await asked(), 1);
      },
      {
        // One call for each listing, and no prefetch.
        flags: {
          'metadata-inventory-parallelism': '0',
          'labels-cache-warm': 'false',
          ...flags,
          backend: backend.url,
          'compat-cache-enabled': tier0,
        },
        clock,
      },
    );
  }
}

const cases: Readonly<Record<string, Case>> = {
  'that reach to now are asked for again soon': { agoMs: 0, keptMs: 2_000 },
  'that reach to now are asked for again soon, also where queries are not': {
    flags: { 'recent-tail-refresh-enabled': 'false' },
    agoMs: 0,
    keptMs: 2_000,
  },
  'that end within -max-metadata-cache-freshness are asked for again soon, where queries are not': {
    flags: { 'recent-tail-refresh-enabled': 'false', 'max-metadata-cache-freshness': '72h' },
    agoMs: 2 * dayMs,
    keptMs: 2_000,
  },
  'are kept to the end with a freshness of 0': {
    flags: { 'max-metadata-cache-freshness': '0' },
    agoMs: 0,
    keptMs: 5 * 60_000,
  },
  'that are none are kept for a short time': { agoMs: 2 * dayMs, isEmpty: true, keptMs: 30_000 },
  'that are none are kept until the disk takes them': {
    flags: { 'disk-cache-min-ttl': '40s' },
    agoMs: 2 * dayMs,
    isEmpty: true,
    keptMs: 40_000,
  },
  'that are none are kept until peers take them': {
    flags: { 'disk-cache-min-ttl': '40s', 'peer-write-through-min-ttl': '50s' },
    agoMs: 2 * dayMs,
    isEmpty: true,
    keptMs: 50_000,
  },
};
for (const [what, one] of Object.entries(cases)) test(`labels ${what}`, (t) => isKept(t, one));
