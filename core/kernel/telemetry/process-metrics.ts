import v8 from 'node:v8';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { MetricSpec, MetricSpecs } from '../../base/meters.js';
import { residentBytes } from '../../base/memory/resident.js';
import { metricPrefix } from './names.js';
import { resources, type ProcReader, type Seen } from './proc/reader.js';
import { type Measured, plainHistogram, Observed, readFrom } from './series.js';
import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';

/** Buckets in seconds; most pauses are below a millisecond. */
const collectionBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1] as const;

type Figures = readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];

/** A measurement of this process or of the machine. */
interface ProcessFigure extends MetricSpec {
  readonly type: 'counter' | 'gauge';
  read(seen: Seen): number | Figures | undefined;
}

/**
 * Registers the resource usage of this process and its machine. Values are read at a scrape, those of the system by the reader; missing
 * ones are omitted.
 */
export function registerProcessMetrics(registry: Registry, proc: ProcReader): void {
  for (const [name, figure] of Object.entries(figures)) register(registry, name, figure, proc);
  const { help } = collectionTimes;
  plainHistogram(
    {
      name: metricPrefix + collectionName,
      help,
      labelNames: [],
      registers: [registry],
      aggregator: 'sum',
    },
    collectionBuckets,
    collections().pauses,
  );
}

function register(registry: Registry, name: string, figure: ProcessFigure, proc: ProcReader): void {
  const { help, type, labels = [], ofWorkers } = figure;
  const Metric = type === 'counter' ? Counter : Gauge;
  const metric = new Metric({
    name: metricPrefix + name,
    help,
    labelNames: [...labels],
    registers: [registry],
    aggregator: ofWorkers ?? 'sum',
  });
  readFrom(metric, () => seriesOf(figure.read(proc.seen)));
}

function seriesOf(found: ReturnType<ProcessFigure['read']> = []): Measured['series'] {
  return typeof found === 'number'
    ? [[{}, [found]]]
    : found.map(({ labels, value }) => [labels, [value]] as const);
}

/** The declarations, for documentation. */
export function processMetrics(): MetricSpecs {
  return { ...figures, [collectionName]: collectionTimes };
}

const collectionName = 'go_gc_duration_seconds';
const collectionTimes: MetricSpec = {
  type: 'histogram',
  help: 'Pauses by the garbage collector of V8.',
  buckets: collectionBuckets,
};

/** The pressure of each resource: the shares of time in which some, or all, tasks waited for it. */
const pressureFigures = Object.fromEntries(
  resources.flatMap((resource) =>
    (['some', 'full'] as const).map((who): [string, ProcessFigure] => [
      `process_pressure_${resource}_${who}_ratio`,
      {
        type: 'gauge',
        help: `Share of the last 10, 60 or 300 seconds in which ${who === 'some' ? 'a task' : 'all tasks'} waited for ${resource}; only if the kernel reports it.`,
        labels: ['window'],
        ofWorkers: 'max',
        read: ({ pressure }) =>
          pressure[resource]
            ?.filter((each) => each.who === who)
            .map(({ window, ratio }) => ({ labels: { window }, value: ratio })),
      },
    ]),
  ),
);

const figures: Readonly<Record<string, ProcessFigure>> = {
  process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of the process.',
    read: residentBytes,
  },
  process_heap_bytes: {
    type: 'gauge',
    help: 'JavaScript heap in use.',
    read: () => v8.getHeapStatistics().used_heap_size,
  },
  process_cpu_seconds_total: {
    type: 'counter',
    help: 'User and system CPU time of the process.',
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'Start time of the process, in seconds since the epoch.',
    ofWorkers: 'min',
    read: () => Math.round(Date.now() / 1000 - process.uptime()),
  },
  process_open_fds: {
    type: 'gauge',
    help: 'Open file descriptors.',
    read: ({ openFiles }) => openFiles,
  },
  process_max_fds: {
    type: 'gauge',
    help: 'Maximum number of open file descriptors of the process (ulimit -n).',
    ofWorkers: 'min',
    read: ({ maxOpenFiles }) => (maxOpenFiles === Infinity ? undefined : maxOpenFiles),
  },
  process_cpu_usage_ratio: {
    type: 'gauge',
    help: 'Share of the CPU time of the host between two scrapes, by mode: user, system, iowait.',
    labels: ['mode'],
    ofWorkers: 'max',
    read: ({ cpu }) =>
      cpu === undefined ? [] : Object.entries(cpu).map(([mode, value]) => ({ labels: { mode }, value })),
  },
  process_memory_total_bytes: {
    type: 'gauge',
    help: 'Total memory of the host.',
    ofWorkers: 'max',
    read: ({ memory }) => memory?.totalBytes,
  },
  process_memory_available_bytes: {
    type: 'gauge',
    help: 'Memory of the host that is available without swapping.',
    ofWorkers: 'max',
    read: ({ memory }) => memory?.availableBytes,
  },
  process_memory_free_bytes: {
    type: 'gauge',
    help: 'Free memory of the host, without the page cache.',
    ofWorkers: 'max',
    read: ({ memory }) => memory?.freeBytes,
  },
  process_memory_usage_ratio: {
    type: 'gauge',
    help: 'Share of the memory of the host that is not available.',
    ofWorkers: 'max',
    read: ({ memory }) =>
      memory === undefined || memory.totalBytes === 0
        ? undefined
        : 1 - memory.availableBytes / memory.totalBytes,
  },
  process_disk_read_bytes_total: {
    type: 'counter',
    help: 'Bytes that the process read from storage.',
    read: ({ io }) => io?.readBytes,
  },
  process_disk_written_bytes_total: {
    type: 'counter',
    help: 'Bytes that the process wrote to storage.',
    read: ({ io }) => io?.writtenBytes,
  },
  process_disk_read_operations_total: {
    type: 'counter',
    help: 'Read system calls of the process, including sockets: Linux does not count file reads separately.',
    read: ({ io }) => io?.reads,
  },
  process_disk_write_operations_total: {
    type: 'counter',
    help: 'Write system calls of the process, including sockets: Linux does not count file writes separately.',
    read: ({ io }) => io?.writes,
  },
  process_network_receive_bytes_total: {
    type: 'counter',
    help: 'Bytes received by the interfaces of the network namespace (of a container, its own), without loopback.',
    ofWorkers: 'max',
    read: ({ network }) => network?.receivedBytes,
  },
  process_network_transmit_bytes_total: {
    type: 'counter',
    help: 'Bytes sent by the interfaces of the network namespace, without loopback.',
    ofWorkers: 'max',
    read: ({ network }) => network?.sentBytes,
  },
  ...pressureFigures,
  go_gc_cycles_total: {
    type: 'counter',
    help: 'Garbage collections of V8, by generation: young, or all.',
    read: () => collections().count,
  },
  go_memstats_alloc_bytes: {
    type: 'gauge',
    help: 'V8 heap used by objects.',
    read: () => v8.getHeapStatistics().used_heap_size,
  },
  go_memstats_heap_alloc_bytes: {
    type: 'gauge',
    help: 'The same as go_memstats_alloc_bytes, as in Go.',
    read: () => v8.getHeapStatistics().used_heap_size,
  },
  go_memstats_heap_sys_bytes: {
    type: 'gauge',
    help: 'V8 heap reserved from the system.',
    read: () => v8.getHeapStatistics().total_heap_size,
  },
  go_memstats_heap_inuse_bytes: {
    type: 'gauge',
    help: 'V8 heap in physical memory.',
    read: () => v8.getHeapStatistics().total_physical_size,
  },
  go_memstats_heap_idle_bytes: {
    type: 'gauge',
    help: 'V8 heap reserved from the system but not in physical memory.',
    read: () => {
      const { total_heap_size, total_physical_size } = v8.getHeapStatistics();
      return Math.max(0, total_heap_size - total_physical_size);
    },
  },
  go_memstats_sys_bytes: {
    type: 'gauge',
    help: 'Memory that the runtime uses: heap, external buffers and its own data.',
    read: () => {
      const { total_heap_size, external_memory, malloced_memory } = v8.getHeapStatistics();
      return total_heap_size + external_memory + malloced_memory;
    },
  },
};

/** Work of the garbage collector in this process. */
interface Collections {
  /** Number of complete collections; their incremental steps are not counted. */
  readonly count: number;
  readonly pauses: Observed;
}

const whole: ReadonlySet<number> = new Set([
  constants.NODE_PERFORMANCE_GC_MAJOR,
  constants.NODE_PERFORMANCE_GC_MINOR,
]);
interface Kind {
  readonly kind: number;
}

let watched: Collections | undefined;

/**
 * The collections since the first call. There is one counter, because a process has one garbage collector however many proxies run in it.
 */
function collections(): Collections {
  return (watched ??= watch());
}

function watch(): Collections {
  const seen = { count: 0, pauses: new Observed(collectionName, {}, collectionBuckets) };
  const observer = new PerformanceObserver((list) => {
    // Entries of this type have the kind of the collection as detail.
    for (const { duration, detail } of list.getEntries() as (PerformanceEntry & { detail: Kind })[]) {
      seen.pauses.observe(duration / 1000);
      if (whole.has(detail.kind)) seen.count += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return seen;
}
