/**
 * The cost of scraping /metrics after requests of 10,000 tenants and clients, also with the metrics of two workers added up, and of pushing
 * the metrics: the duration, and the longest event loop turn, which blocks all other requests.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { AddedUp } from '../../core/kernel/telemetry/added-up.js';
import { MeterRegistry, RequestMetrics } from '../../core/kernel/telemetry/meters.js';
import { requestMetrics } from '../../core/kernel/telemetry/metrics-table.js';
import { batches, requestOf } from '../../core/kernel/telemetry/otlp/points.js';
import { registerProcessMetrics } from '../../core/kernel/telemetry/process-metrics.js';
import type { Measurements } from '../../core/kernel/telemetry/series.js';
import { ProcReader } from '../../core/kernel/telemetry/proc/reader.js';
import { RequestRecord } from '../../core/kernel/telemetry/request-log.js';
import { FakeClock, makeCaller, telemetryOptions } from '../../core/testing/index.js';
import { note } from './report.js';

const identities = 10_000;
const scrapes = 7;

export async function run(): Promise<void> {
  const registry = new MeterRegistry();
  const options = telemetryOptions({
    metricsExportSensitiveLabels: true,
    metricsMaxTenants: identities,
    metricsMaxClients: identities,
  });
  const proc = new ProcReader(options);
  registerProcessMetrics(registry.registry, proc);
  const metrics = new RequestMetrics(registry.create(requestMetrics), options, new FakeClock());
  for (let at = 0; at < identities; at += 1) {
    const record = new RequestRecord(
      'GET',
      '/loki/api/v1/query_range',
      makeCaller({ orgId: `tenant-${at}` }),
      0,
    );
    record.route = '/loki/api/v1/query_range';
    record.requestType = 'query_range';
    record.query = '{app="shop"}';
    metrics.started(record);
    metrics.finished(record, 200, at % 500);
  }
  await proc.read();
  const measurements = await registry.measurements();
  const sums = new AddedUp();
  for (const worker of [1, 2]) sums.update(worker, measurements);
  for (const [name, read] of [
    ['as text', async () => (await registry.expose()).text],
    ['as a worker tells it', () => registry.measurements()],
    ['of two workers, as data', () => sums.measurements([])],
    ['as a push', () => pushed(measurements)],
  ] as const) {
    const taken: number[] = [];
    const longest: number[] = [];
    let size = 0;
    for (let scrape = 0; scrape < scrapes; scrape += 1) {
      const meter = new TurnMeter();
      const startedMs = performance.now();
      const got = await read();
      taken.push(performance.now() - startedMs);
      longest.push(await meter.stop());
      size = typeof got === 'string' ? got.split('\n').length : got.length;
    }
    console.log(
      `${name}: ${size} ${unitOf(name)} in ${median(taken).toFixed(0)} ms, longest turn ${median(longest).toFixed(1)} ms (worst ${Math.max(...longest).toFixed(1)} ms), median of ${scrapes}`,
    );
    note('scrape', `longest turn of a scrape, ${name}`, median(longest) / median(taken));
  }
}

/** The requests of a push, of which only the sizes are kept. */
async function pushed(measurements: Measurements): Promise<readonly number[]> {
  const sizes: number[] = [];
  for await (const metrics of batches(measurements, { startNs: 1n, nowNs: 2n }, 500))
    sizes.push(requestOf([], metrics).length);
  return sizes;
}

/** The longest time between two turns of the event loop. */
class TurnMeter {
  #longestMs = 0;
  #isRunning = true;
  readonly #ended = this.#run();

  async #run(): Promise<void> {
    let lastMs = performance.now();
    while (this.#isRunning) {
      await turn();
      const nowMs = performance.now();
      this.#longestMs = Math.max(this.#longestMs, nowMs - lastMs);
      lastMs = nowMs;
    }
  }

  async stop(): Promise<number> {
    this.#isRunning = false;
    await this.#ended;
    return this.#longestMs;
  }
}

function unitOf(name: string): string {
  if (name === 'as text') return 'lines';
  return name === 'as a push' ? 'requests' : 'metrics';
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
