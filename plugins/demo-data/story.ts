/**
 * The story of the demo: a shop with some requests per second, and a failed deployment of `payments` half an hour before the demo starts.
 * Everything is determined by the seed and the time, so history and live logs are consistent.
 */
/** The ingestion API that a collector uses: Loki's push API, a JSON line with parsed fields, or Elasticsearch's bulk API. */
export type Door = 'loki' | 'jsonLine' | 'elasticsearch';

export interface SampleEntry {
  readonly door: Door;
  readonly atMs: number;
  readonly line: string;
  /** Stream fields of the entry. */
  readonly labels: Readonly<Record<string, string>>;
  /** Other fields, with few values each, because `count_over_time` has a series for each combination. Ids are in the line. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface Story {
  readonly seed: number;
  /** Start of the incident. */
  readonly incidentMs: number;
}

/** Time from the start of the incident to the start of the demo. */
export const incidentBeforeMs = 30 * 60_000;
const incidentMs = 6 * 60_000;
/** Average number of lines per request, excluding those of the deployment: see `entriesOf`. */
export const linesPerRequest = 2.2;

const paths = ['/', '/api/items/1042', '/api/search?q=lamp', '/api/cart', '/healthz'] as const;

/** The lines of a request, or of a batch job, that ends at this time. */
export function entriesOf(story: Story, number: number, atMs: number): readonly SampleEntry[] {
  const random = new Random(story.seed * 1_000_003 + number);
  const kind = random.next();
  if (kind < 0.2) return [batch(random, atMs)];
  return kind < 0.8 ? browsed(random, atMs) : bought(random, atMs, isIncident(story, atMs));
}

/** The lines written by the deployment itself, in order. */
export function deploymentOf({ incidentMs: startMs }: Story): readonly SampleEntry[] {
  const endMs = startMs + incidentMs;
  return [
    payment(startMs - 20_000, 'info', 'deployment started: version 2.4.0 replaces 2.3.9'),
    payment(startMs - 4_000, 'warn', 'configuration changed: db.pool_size is 2, it was 20', '2.4.0'),
    payment(endMs - 40_000, 'warn', 'rollback started: version 2.3.9 replaces 2.4.0', '2.4.0'),
    payment(endMs, 'info', 'rollback finished: db.pool_size is 20'),
  ];
}

function isIncident(story: Story, atMs: number): boolean {
  return atMs >= story.incidentMs && atMs < story.incidentMs + incidentMs;
}

/** A browsing request, with two lines: the access log, and JSON. */
function browsed(random: Random, atMs: number): readonly SampleEntry[] {
  const status = random.pick([200, 200, 200, 200, 200, 200, 304, 304, 404, 404]);
  const tookMs = random.between(3, 320);
  const path = random.pick(paths);
  return [
    storefront(random, atMs - 1, { path, status, tookMs, trace: random.hex(32) }),
    ingress(random, atMs, 'GET', path, status),
  ];
}

/** A purchase, with four lines: it passes through all services, which all log its trace id. */
function bought(random: Random, atMs: number, isBroken: boolean): readonly SampleEntry[] {
  const trace = random.hex(32);
  const order = random.between(10_000, 99_999);
  const amount = (random.between(500, 20_000) / 100).toFixed(2);
  const isDeclined = random.chance(0.06);
  const fails = isBroken && random.chance(0.85);
  const paidMs = fails ? 3000 : random.between(40, 280);
  const restMs = random.between(12, 90);
  const tookMs = paidMs + restMs;
  const status = fails ? 502 : isDeclined ? 402 : 201;
  const version = isBroken ? '2.4.0' : '2.3.9';
  const paid = fails
    ? payment(
        atMs - restMs,
        'error',
        `database connection pool exhausted: 2 of 2 in use, gave up after 3000 ms, trace_id=${trace}`,
        version,
      )
    : payment(
        atMs - restMs,
        isDeclined ? 'warn' : 'info',
        `${isDeclined ? 'card declined' : 'charged'}: ${amount} EUR in ${paidMs} ms, trace_id=${trace}`,
        version,
      );
  const what = fails
    ? 'level=error msg="payment failed" reason="payments: timeout after 3000ms"'
    : isDeclined
      ? 'level=warn msg="payment declined"'
      : 'level=info msg="order placed"';
  const ts = new Date(atMs - 2).toISOString();
  const ordered = `ts=${ts} ${what} order_id=${order} size=${random.between(1, 90)}KB took=${tookMs}ms trace_id=${trace}`;
  return [
    paid,
    fromPod('checkout', random.between(0, 1), atMs - 2, ordered),
    storefront(random, atMs - 1, { path: '/api/checkout', status, tookMs, trace }),
    ingress(random, atMs, 'POST', '/api/checkout', status),
  ];
}

function storefront(
  random: Random,
  atMs: number,
  { path, status, tookMs, trace }: { path: string; status: number; tookMs: number; trace: string },
): SampleEntry {
  const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
  const line = JSON.stringify({
    ts: new Date(atMs).toISOString(),
    level,
    msg: level === 'error' ? 'error: upstream request failed' : 'request served',
    http: { method: path === '/api/checkout' ? 'POST' : 'GET', path, status },
    duration_ms: tookMs,
    user_id: `u${random.between(1, 400)}`,
    trace_id: trace,
  });
  return fromPod('storefront', random.between(0, 2), atMs, line, { level });
}

/** An entry for Loki's push API, as sent by Alloy and Promtail. */
function fromPod(
  service: string,
  pod: number,
  atMs: number,
  line: string,
  fields: Readonly<Record<string, string>> = {},
): SampleEntry {
  const labels = { service_name: service, cluster: 'eu-west-1', namespace: 'shop', pod: `${service}-${pod}` };
  return { door: 'loki', atMs, line, labels, fields };
}

/** A line of the access log, which has no service_name: the proxy derives it from `job`, as Loki would. */
function ingress(random: Random, atMs: number, method: string, path: string, status: number): SampleEntry {
  const stamp = new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
  const address = `10.0.${random.between(0, 4)}.${random.between(1, 254)}`;
  const line = `${address} - - [${stamp}] "${method} ${path} HTTP/1.1" ${status} ${random.between(120, 48_000)}`;
  const labels = { job: 'ingress', cluster: 'eu-west-1', namespace: 'shop' };
  return { door: 'loki', atMs, line, labels, fields: {} };
}

/** A JSON line with fields parsed by the collector, under the names that vlagent gives to stream fields. */
function payment(atMs: number, level: string, line: string, version = '2.3.9'): SampleEntry {
  const labels = {
    'kubernetes.container_name': 'payments',
    'kubernetes.pod_name': 'payments-0',
    'kubernetes.pod_namespace': 'shop',
    service: 'payments',
  };
  return { door: 'jsonLine', atMs, line, labels, fields: { level, version } };
}

/** A document as sent by Filebeat. The level is only in the text. */
function batch(random: Random, atMs: number): SampleEntry {
  const rows = random.between(10, 900);
  const line = random.chance(0.02)
    ? `[ERROR] batch ${random.between(1, 4000)} gave up after 3 tries: error reading from 192.168.3.${random.between(2, 40)}`
    : `[INFO] batch ${random.between(1, 4000)} done in ${random.between(1, 90)}s, ${rows} rows`;
  const labels = { service: 'batch-worker', 'host.name': `vm-${random.between(1, 2)}` };
  return { door: 'elasticsearch', atMs, line, labels, fields: { 'agent.type': 'filebeat' } };
}

/** A small seeded random number generator (mulberry32), so that a demo with the same seed produces the same data. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** An integer in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.next() * items.length)] ?? items[0];
  }

  /** True with probability `share`. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  hex(digits: number): string {
    let text = '';
    while (text.length < digits) text += Math.floor(this.next() * 16).toString(16);
    return text;
  }
}
