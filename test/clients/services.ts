import type { Random } from '../../plugins/demo-data/story.js';

/** One generated log entry, in the terms of Loki's push API. */
export interface SampleEntry {
  readonly labels: Readonly<Record<string, string>>;
  readonly line: string;
  readonly structuredMetadata: Readonly<Record<string, string>>;
}

type SampleService = (random: Random, at: Date) => SampleEntry;

const paths = ['/api/cart', '/api/checkout', '/api/items/1042', '/api/search?q=lamp', '/healthz'] as const;
const regions = ['eu-west-1', 'us-east-1'] as const;

function place(random: Random): { readonly cluster: string; readonly namespace: string } {
  return { cluster: random.pick(regions), namespace: 'shop' };
}

/** JSON lines with trace ids as structured metadata, for `| json` and Grafana's log details. */
const storefront: SampleService = (random, at) => {
  const failed = random.chance(0.06);
  const status = failed ? random.pick([500, 502, 503]) : random.pick([200, 200, 200, 201, 304, 404]);
  const level = failed ? 'error' : status === 404 ? 'warn' : 'info';
  return {
    labels: { service_name: 'storefront', ...place(random), pod: `storefront-${random.between(0, 2)}` },
    line: JSON.stringify({
      ts: at.toISOString(),
      level,
      msg: failed ? 'error: upstream request failed' : 'request served',
      http: { method: random.pick(['GET', 'GET', 'POST']), path: random.pick(paths), status },
      duration_ms: failed ? random.between(800, 4000) : random.between(3, 320),
    }),
    structuredMetadata: { trace_id: random.hex(32), user_id: `u${random.between(1, 400)}` },
  };
};

/** logfmt lines with durations and sizes, for `| logfmt` and `unwrap`. */
const checkout: SampleService = (random, at) => {
  const failed = random.chance(0.08);
  const order = random.between(10_000, 99_999);
  const line = failed
    ? `ts=${at.toISOString()} level=error msg="payment error" order_id=${order} reason=${random.pick(['timeout', 'card_declined'])} took=${random.between(900, 5000)}ms`
    : `ts=${at.toISOString()} level=info msg="order placed" order_id=${order} items=${random.between(1, 9)} size=${random.between(1, 90)}KB took=${random.between(12, 400)}ms`;
  return {
    labels: { service_name: 'checkout', ...place(random), pod: `checkout-${random.between(0, 1)}` },
    line,
    structuredMetadata: random.chance(0.5) ? { trace_id: random.hex(32) } : {},
  };
};

/** Access log without a service_name label: the proxy derives the name as Loki would. */
const ingress: SampleService = (random, at) => {
  const status = random.pick([200, 200, 200, 200, 301, 404, 499, 502]);
  const stamp = at.toISOString().slice(0, 19).replace('T', ' ');
  return {
    labels: { job: 'ingress', ...place(random) },
    line: `10.0.${random.between(0, 4)}.${random.between(1, 254)} - - [${stamp}] "GET ${random.pick(paths)} HTTP/1.1" ${status} ${random.between(120, 48_000)}`,
    structuredMetadata: {},
  };
};

/** Plain text like that of a batch job. */
const worker: SampleService = (random) => {
  const batch = random.between(1, 4000);
  const line = random.chance(0.05)
    ? `[ERROR] batch ${batch} gave up after ${random.between(3, 5)} tries: error reading from 192.168.3.${random.between(2, 40)}`
    : `[INFO] batch ${batch} done in ${random.between(1, 90)}s, ${random.between(10, 900)} rows`;
  return {
    labels: { app: 'batch-worker', ...place(random) },
    line,
    structuredMetadata: { worker: `w${random.between(1, 6)}` },
  };
};

const services = [storefront, storefront, checkout, ingress, worker] as const;

/** Generates an entry of one of the services at the given time. */
export function sampleEntry(random: Random, at: Date): SampleEntry {
  return random.pick(services)(random, at);
}
