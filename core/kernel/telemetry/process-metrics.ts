import { readdirSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { MetricSpecs } from '../../base/meters.js';
import { metricPrefix } from './meters.js';

/** A measurement of this process under the unprefixed name that common dashboards use. */
interface ProcessFigure {
  readonly name: string;
  /** A gauge unless given. */
  readonly type?: 'counter';
  readonly help: string;
  readonly ofWorkers?: 'min';
  read(): number | undefined;
}

/** Registers the resource usage of this process; values are read at a scrape and omitted where the system has none. */
export function registerProcessMetrics(registry: Registry): void {
  for (const figure of figures) {
    for (const prefix of [metricPrefix, '']) {
      const description = {
        name: prefix + figure.name,
        help: figure.help,
        registers: [registry],
        aggregator: figure.ofWorkers ?? ('sum' as const),
      };
      const read = (tell: (value: number) => void): void => {
        const value = figure.read();
        if (value !== undefined) tell(value);
      };
      if (figure.type === 'counter')
        new Counter({
          ...description,
          collect() {
            read((value) => {
              this.reset();
              this.inc(value);
            });
          },
        });
      else
        new Gauge({
          ...description,
          collect() {
            read((value) => this.set(value));
          },
        });
    }
  }
}

/** The declarations, for documentation. */
export function processMetrics(): MetricSpecs {
  return Object.fromEntries(
    figures.map(({ name, type = 'gauge' as const, help, ofWorkers }) => [
      name,
      { type, help, ...(ofWorkers === undefined ? {} : { ofWorkers }) },
    ]),
  );
}

const figures: readonly ProcessFigure[] = [
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process.',
    read: () => process.memoryUsage.rss(),
  },
  {
    name: 'process_heap_bytes',
    help: 'JavaScript heap in use.',
    read: () => process.memoryUsage().heapUsed,
  },
  {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'User and system CPU time of the process.',
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  },
  {
    name: 'process_start_time_seconds',
    help: 'Start of the process, seconds since the epoch.',
    ofWorkers: 'min',
    read: () => Math.round(Date.now() / 1000 - process.uptime()),
  },
  { name: 'process_open_fds', help: 'Open file descriptors.', read: openFileDescriptors },
];

function openFileDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    // Only Linux provides them.
    return undefined;
  }
}
