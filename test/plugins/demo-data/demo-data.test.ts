/** Checks the uses of the demo logs through the proxy that the demo runs. */
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { packageRoot } from '../../../core/kernel/options/index.js';
import { FakeClock, withProxyFile } from '../../../core/testing/index.js';
import { freePort } from '../../core/program/child.js';

const minute = 60_000;
// A fixed start time gives fixed logs. It is not a whole minute, like that of a real demo.
const startMs = 1_793_491_217_000;

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

interface Under {
  readonly clock: FakeClock;
  /** The samples of an instant query, `afterMs` after the start of the demo. */
  readonly samples: (query: string, afterMs?: number) => Promise<readonly Series[]>;
  readonly total: (query: string, afterMs?: number) => Promise<number>;
}

async function withDemo(t: ExecutionContext, use: (under: Under) => Promise<void>): Promise<void> {
  const listen = `127.0.0.1:${await freePort()}`;
  const clock = new FakeClock(BigInt(startMs) * 1_000_000n);
  const settings = {
    clock,
    env: { DEMO_BACKEND_LISTEN: listen, DEMO_BACKEND_URL: `http://${listen}` },
    flags: { 'cache-disabled': 'true', 'compat-cache-enabled': 'false' },
  };
  await withProxyFile(
    join(packageRoot(), 'pipelines/demo.yaml'),
    async ({ url }) => {
      const samples = async (query: string, afterMs = 0): Promise<readonly Series[]> => {
        const params = new URLSearchParams({ query, time: String((startMs + afterMs) / 1000) });
        const answer = await fetch(`${url}/loki/api/v1/query?${params.toString()}`);
        const text = await answer.text();
        t.is(answer.status, 200, `${query}: ${text}`);
        return (JSON.parse(text) as { readonly data: { readonly result: readonly Series[] } }).data.result;
      };
      const total = async (query: string, afterMs?: number): Promise<number> => {
        const found = await samples(query, afterMs);
        return found.reduce((sum, { value }) => sum + Number(value[1]), 0);
      };
      await use({ clock, samples, total });
    },
    settings,
  );
}

const all = '{service_name=~".+"}';
const services = ['batch-worker', 'checkout', 'ingress', 'payments', 'storefront'];

test.serial('the first metric query of each service of the demo has a handful of series', async (t) => {
  await withDemo(t, async ({ samples }) => {
    const found = await samples(`sum by (service_name) (count_over_time(${all}[1h]))`);
    t.deepEqual(found.map(({ metric }) => metric['service_name']).sort(), services);
    for (const service of services) {
      const series = await samples(`count_over_time({service_name="${service}"}[1h])`);
      t.true(series.length > 0 && series.length <= 12, `${service}: ${series.length}`);
    }
  });
});

test.serial('live logs of the demo go on as its history was', async (t) => {
  await withDemo(t, async ({ clock, total }) => {
    const each = 50_000;
    const count = `count_over_time(${all}[50s])`;
    const before: number[] = [];
    for (let ago = 1; ago <= 5; ago += 1) before.push(await total(count, -ago * each));
    t.is(await total(count, each), 0, 'nothing is ahead of its time');
    clock.advance(each);
    const last = `count_over_time(${all}[2s])`;
    while ((await total(last, each)) === 0);
    const live = await total(count, each);
    t.true(Math.min(...before) > 150 && Math.max(...before) < 250, before.join());
    t.true(live > 150 && live < 250, `${live} after ${before.join()}`);
  });
});

test.serial('the demo has an incident, whose cause is in the logs of another service', async (t) => {
  await withDemo(t, async ({ samples, total }) => {
    const errors = (service: string): string =>
      `count_over_time({service_name="${service}"} | detected_level="error" [5m])`;
    for (const service of ['checkout', 'payments', 'storefront']) {
      t.is(await total(errors(service), -31 * minute), 0, service);
      t.true((await total(errors(service), -25 * minute)) > 40, service);
      t.is(await total(errors(service), -18 * minute), 0, service);
    }
    const versions = await samples(
      'sum by (version) (count_over_time({service_name="payments"} | version="2.4.0" [1h]))',
    );
    t.deepEqual(
      versions.map(({ metric }) => metric['version']),
      ['2.4.0'],
    );
    const cause = 'count_over_time({service_name="payments"} |= "db.pool_size is 2," [5m])';
    t.is(await total(cause, -29 * minute), 1);
  });
});

test.serial(
  'a purchase of the demo has one trace id in all services, and each door gives a service its name',
  async (t) => {
    await withDemo(t, async ({ samples }) => {
      const [first] = await samples(
        'topk(1, sum by (trace_id) (count_over_time({service_name="checkout"} | logfmt | level="error" [1h])))',
      );
      const trace = first?.metric['trace_id'] ?? '';
      t.regex(trace, /^[0-9a-f]{32}$/);
      const found = await samples(
        `sum by (service_name, kubernetes_pod_name) (count_over_time(${all} |= "${trace}" [1h]))`,
      );
      t.deepEqual(found.map(({ metric }) => metric['service_name']).sort(), [
        'checkout',
        'payments',
        'storefront',
      ]);
      t.true(found.some(({ metric }) => metric['kubernetes_pod_name'] === 'payments-0'));
    });
  },
);
