import test, { type ExecutionContext } from 'ava';
import { withDisk } from '../../core/cache/disk-engines.js';
import type { FaultRule } from '../../../plugins/embedded-backend/dev-backend.js';
import { FakeClock, withProxy, type ProxyUnderTest } from '../../../core/testing/index.js';
import { metric, pipeline, stored } from './stored.js';

const minute = 60_000;

interface Setting {
  readonly flags?: Readonly<Record<string, string>>;
  readonly stages?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
interface Got {
  readonly status: number;
  readonly isStale: boolean;
  readonly warnings: readonly string[] | undefined;
  readonly result: string;
}
interface Under extends ProxyUnderTest {
  readonly clock: FakeClock;
  readonly ask: () => Promise<Got>;
  readonly fail: (rules: readonly FaultRule[]) => Promise<void>;
  readonly closeBackend: () => Promise<void>;
}

/** A proxy with one cached answer, ten minutes before that answer is too old. */
async function afterOneAnswer(
  t: ExecutionContext,
  { flags = {}, stages = '', headers = {} }: Setting,
  use: (under: Under) => Promise<void>,
): Promise<void> {
  const { backend, path, flags: fromStored } = await stored(t);
  const clock = new FakeClock(BigInt(Date.now()) * 1_000_000n);
  const fail = async (rules: readonly FaultRule[]): Promise<void> => {
    await fetch(`${backend.url}/-/faults`, { method: 'POST', body: JSON.stringify(rules) });
  };
  const run = (then: (under: Under) => Promise<void>): Promise<void> =>
    withProxy(
      pipeline(backend.url, '', stages),
      async (under) => {
        const ask = async (): Promise<Got> => {
          const answer = await fetch(under.url + path, { headers });
          const body = (await answer.json()) as {
            readonly warnings?: readonly string[];
            readonly data?: { readonly result: unknown };
          };
          return {
            status: answer.status,
            isStale: answer.headers.get('x-proxy-stale-response') === 'true',
            warnings: body.warnings,
            result: JSON.stringify(body.data?.result),
          };
        };
        await then({ ...under, clock, ask, fail, closeBackend: () => backend.close() });
      },
      { clock, flags: { ...fromStored, 'disk-cache-path': '', ...flags } },
    );
  await run(async (under) => {
    t.like(await under.ask(), { status: 200, isStale: false });
    clock.advance(minute);
    await use(under);
  });
}

const outages: readonly (readonly [name: string, rule: FaultRule])[] = [
  ['answers 500', { path: '/select/logsql/', status: 500, text: 'it is broken' }],
  ['answers 503', { path: '/select/logsql/', status: 503, text: 'it is busy' }],
  ['does not answer', { path: '/select/logsql/', hang: true }],
];
for (const [name, rule] of outages) {
  test(`while the backend ${name}, an expired answer is served and told, and a new one afterwards`, async (t) => {
    await afterOneAnswer(t, { flags: { 'backend-timeout': '8s' } }, async ({ ask, fail, url, log }) => {
      await fail([rule]);
      // With a backend that hangs, each response takes as long as the timeout.
      const times = 'hang' in rule ? 1 : 3;
      for (let count = 0; count < times; count += 1) {
        const got = await ask();
        t.like(got, { status: 200, isStale: true });
        t.deepEqual(got.warnings, [
          'the backend is unavailable: this answer is from the cache and may be stale',
        ]);
        t.regex(got.result, /"one"/);
      }
      t.is(await metric(url, 'stale_answers_total'), `${times}`);
      const told = log.records.filter(
        (record) => record.get('body') === 'serving stale cached response after backend failure',
      );
      t.is(told.length, 1);
      await fail([]);
      t.like(await ask(), { status: 200, isStale: false, warnings: undefined });
    });
  });
}

test('a backend that is gone, and a breaker that is open, leave expired answers until they are too old', async (t) => {
  await afterOneAnswer(
    t,
    { flags: { 'cb-fail-threshold': '1' } },
    async ({ ask, url, clock, closeBackend }) => {
      await closeBackend();
      t.like(await ask(), { status: 200, isStale: true });
      t.is(await metric(url, 'circuit_breaker_state'), '1');
      t.like(await ask(), { status: 200, isStale: true });
      clock.advance(10 * minute - 1);
      t.like(await ask(), { status: 200, isStale: true });
      clock.advance(1);
      t.not((await ask()).status, 200);
    },
  );
});

test('with -stale-if-error=0 an error is an error', async (t) => {
  await afterOneAnswer(t, { flags: { 'stale-if-error': '0' } }, async ({ ask, fail }) => {
    await fail([{ path: '/select/logsql/', status: 500, text: 'it is broken' }]);
    t.like(await ask(), { status: 500, isStale: false });
  });
});

test('a question that the backend refuses gets its error, not an expired answer', async (t) => {
  await afterOneAnswer(t, {}, async ({ ask, fail }) => {
    await fail([{ path: '/select/logsql/', status: 400, text: 'it is no query' }]);
    t.like(await ask(), { status: 400, isStale: false });
  });
});

test('whose credentials are forwarded gets no expired answer: they may have been withdrawn', async (t) => {
  const setting = { flags: { 'forward-headers': 'X-Team' }, headers: { 'X-Team': 'a' } };
  await afterOneAnswer(t, setting, async ({ ask, fail }) => {
    await fail([{ path: '/select/logsql/', status: 500, text: 'it is broken' }]);
    t.like(await ask(), { status: 500, isStale: false });
  });
});

test('an expired answer does not become a finished one that is kept', async (t) => {
  await afterOneAnswer(t, { stages: '  - use: tier0' }, async ({ ask, fail, clock }) => {
    clock.advance(5 * minute);
    await fail([{ path: '/select/logsql/', status: 500, text: 'it is broken' }]);
    t.like(await ask(), { status: 200, isStale: true });
    await fail([]);
    t.like(await ask(), { status: 200, isStale: false, warnings: undefined });
  });
});

test('a flush leaves no expired answer', async (t) => {
  await afterOneAnswer(t, {}, async ({ ask, fail, proxy }) => {
    await fetch(`${proxy.urls.admin ?? ''}/admin/cache/flush`, { method: 'POST' });
    await fail([{ path: '/select/logsql/', status: 500, text: 'it is broken' }]);
    t.like(await ask(), { status: 500, isStale: false });
  });
});

test('of several tenants, those with an expired answer give the warning', async (t) => {
  const setting = { headers: { 'X-Scope-OrgID': '0|7' } };
  await afterOneAnswer(t, setting, async ({ ask, fail }) => {
    await fail([{ path: '/select/logsql/', status: 500, text: 'it is broken' }]);
    const got = await ask();
    t.like(got, { status: 200, warnings: { length: 1 } });
    t.regex(got.result, /"one"/);
  });
});

withDisk(test)('an answer that has expired on disk is served after a restart too', async (t) => {
  const { backend, path, flags } = await stored(t);
  const clock = new FakeClock(BigInt(Date.now()) * 1_000_000n);
  const ask = async (url: string): Promise<Response> => {
    const answer = await fetch(url + path);
    await answer.text();
    return answer;
  };
  await withProxy(pipeline(backend.url), ({ url }) => ask(url), { flags, clock });
  clock.advance(5 * minute);
  await withProxy(
    pipeline(backend.url),
    async ({ url }) => {
      await backend.close();
      t.is((await ask(url)).headers.get('x-proxy-stale-response'), 'true');
      t.is(await metric(url, 'disk_cache_misses_total'), '1', 'an expired answer is no hit');
    },
    { flags, clock },
  );
});
