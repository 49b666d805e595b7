import type { PushedStream } from './fill.js';

/** Benchmark logs: 65 streams of nine services over six hours, the same in every run. The timestamps do not depend on the clock. */
export const sampleStartMs = Date.UTC(2026, 10, 1);
export const sampleEndMs = sampleStartMs + 6 * 3_600_000;

interface StreamOfLogs {
  readonly labels: Readonly<Record<string, string>>;
  readonly line: (index: number, at: string) => string;
  readonly hasTrace: boolean;
}

const batchLines = 5_000;

/** Batches for Loki's push API with `lines` lines in total; with `service`, all streams belong to that service. */
export function* sampleBatches(lines: number, service?: string): Generator<readonly PushedStream[]> {
  const streams = sampleStreams(service);
  const spanMs = sampleEndMs - sampleStartMs;
  let batch = new Map<StreamOfLogs, PushedStream>();
  for (let index = 0; index < lines; index += 1) {
    const source = streams[mixed(index) % streams.length];
    if (source === undefined) continue;
    const offsetMs = Math.floor((index / lines) * spanMs);
    const at = new Date(sampleStartMs + offsetMs).toISOString();
    const timestampNs = `${sampleStartMs + offsetMs}${String(index % 1_000_000).padStart(6, '0')}`;
    const target = batch.get(source) ?? { stream: source.labels, values: [] };
    batch.set(source, target);
    const trace =
      source.hasTrace && index % 3 !== 0 ? { trace_id: mixed(index).toString(16).padStart(16, '0') } : {};
    target.values.push([timestampNs, source.line(index, at), trace]);
    if ((index + 1) % batchLines === 0) {
      yield [...batch.values()];
      batch = new Map();
    }
  }
  if (batch.size > 0) yield [...batch.values()];
}

function sampleStreams(service: string | undefined): readonly StreamOfLogs[] {
  const streams: StreamOfLogs[] = [];
  const namespaces = ['prod', 'staging', 'jobs', 'tools'] as const;
  for (let pod = 0; pod < 65; pod += 1) {
    const ofService = kinds.filter(
      ({ labels }) => service === undefined || labels['service_name'] === service,
    );
    const kind = ofService[pod % ofService.length];
    if (kind === undefined) continue;
    const namespace = namespaces[pod % namespaces.length] ?? 'prod';
    streams.push({
      labels: { ...kind.labels, namespace, cluster: pod % 2 === 0 ? 'eu' : 'us', pod: `pod-${pod}` },
      line: kind.line,
      hasTrace: kind.hasTrace,
    });
  }
  return streams;
}

type Kind = StreamOfLogs;

const kinds: readonly Kind[] = [
  {
    labels: { service_name: 'gateway' },
    hasTrace: true,
    line: (index, at) => {
      const status = [200, 200, 200, 201, 204, 301, 404, 429, 500, 503][mixed(index) % 10] ?? 200;
      return JSON.stringify({
        ts: at,
        level: status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info',
        msg: 'request served',
        method: index % 4 === 0 ? 'POST' : 'GET',
        path: `/api/v1/items/${mixed(index) % 400}`,
        status,
        duration_ms: mixed(index + 7) % 1500,
        user: { id: mixed(index) % 9000, plan: index % 5 === 0 ? 'free' : 'paid' },
      });
    },
  },
  {
    labels: { service_name: 'checkout' },
    hasTrace: true,
    line: (index, at) =>
      `ts=${at} level=${index % 17 === 0 ? 'error' : 'info'} msg="${index % 17 === 0 ? 'payment Timeout' : 'order placed'}" order_id=${mixed(index) % 90_000} took=${mixed(index) % 900}ms`,
  },
  {
    labels: { job: 'ingress' },
    hasTrace: false,
    line: (index, at) =>
      `10.0.${mixed(index) % 8}.${mixed(index) % 250} - - [${at}] "GET /static/${mixed(index) % 70}.js HTTP/1.1" ${index % 23 === 0 ? 404 : 200} ${mixed(index) % 50_000}`,
  },
  {
    labels: { app: 'worker' },
    hasTrace: false,
    line: (index) =>
      index % 29 === 0
        ? `[ERROR] batch ${mixed(index) % 5000} gave up: TIMEOUT reading from 192.168.3.${mixed(index) % 250}`
        : `[INFO] batch ${mixed(index) % 5000} done in ${mixed(index) % 90}s`,
  },
];

/** Spreads consecutive numbers (a multiplicative hash). */
function mixed(index: number): number {
  return Math.imul(index + 1, 2_654_435_761) >>> 4;
}

/** Fills a backend for a tenant and returns the parameters of a range around all lines. */
export async function fillWithSamples(url: string, tenant: string, lines: number): Promise<string> {
  let [first, last] = [Infinity, 0];
  for (const streams of sampleBatches(lines)) {
    for (const { values } of streams)
      for (const [ns] of values) [first, last] = [Math.min(first, Number(ns)), Math.max(last, Number(ns))];
    const answer = await fetch(new URL('/insert/loki/api/v1/push?disable_message_parsing=1', url), {
      method: 'POST',
      headers: { AccountID: tenant, ProjectID: '0', 'Content-Type': 'application/json' },
      body: JSON.stringify({ streams }),
    });
    if (answer.status >= 300) throw new Error(`push was answered ${answer.status}: ${await answer.text()}`);
  }
  return `start=${Math.floor(first / 1e9)}&end=${Math.ceil(last / 1e9) + 1}`;
}
