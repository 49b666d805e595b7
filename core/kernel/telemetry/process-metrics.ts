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

/** A measurement of this process or of the machine. */
interface ProcessFigure extends MetricSpec {
  readonly type: 'counter' | 'gauge';
  read(seen: Seen): number | Measured['series'] | undefined;
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
  readFrom(metric, () => {
    const found = figure.read(proc.seen) ?? [];
    return typeof found === 'number' ? [[{}, [found]]] : found;
  });
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

type Read = ProcessFigure['read'];

function counter(help: string, read: Read, more: Partial<MetricSpec> = {}): ProcessFigure {
  return { ...more, type: 'counter', help, read };
}

function gauge(help: string, read: Read, more: Partial<MetricSpec> = {}): ProcessFigure {
  return { ...more, type: 'gauge', help, read };
}

/** For figures of the machine: all workers see the same. */
const ofMachine = { ofWorkers: 'max' } as const;

/** A gauge of V8's heap. */
function heapGauge(help: string, of: (heap: v8.HeapInfo) => number): ProcessFigure {
  return gauge(help, () => of(v8.getHeapStatistics()));
}

const usedHeap = ({ used_heap_size }: v8.HeapInfo): number => used_heap_size;

/** The pressure of each resource: the shares of time in which some, or all, tasks waited for it. */
const pressureFigures = Object.fromEntries(
  resources.flatMap((resource) =>
    (['some', 'full'] as const).map((who): [string, ProcessFigure] => [
      `process_pressure_${resource}_${who}_ratio`,
      gauge(
        `Share of the last 10, 60 or 300 seconds in which ${who === 'some' ? 'a task' : 'all tasks'} waited for ${resource}; only if the kernel reports it.`,
        ({ pressure }) =>
          pressure[resource]
            ?.filter((each) => each.who === who)
            .map(({ window, ratio }) => [{ window }, [ratio]] as const),
        { labels: ['window'], ...ofMachine },
      ),
    ]),
  ),
);

const figures: Readonly<Record<string, ProcessFigure>> = {
  process_resident_memory_bytes: gauge('Resident memory of the process.', residentBytes),
  process_heap_bytes: heapGauge('JavaScript heap in use.', usedHeap),
  process_cpu_seconds_total: counter('User and system CPU time of the process.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }),
  process_start_time_seconds: gauge(
    'Start time of the process, in seconds since the epoch.',
    () => Math.round(Date.now() / 1000 - process.uptime()),
    { ofWorkers: 'min' },
  ),
  process_open_fds: gauge('Open file descriptors.', ({ openFiles }) => openFiles),
  process_max_fds: gauge(
    'Maximum number of open file descriptors of the process (ulimit -n).',
    ({ maxOpenFiles }) => (maxOpenFiles === Infinity ? undefined : maxOpenFiles),
    { ofWorkers: 'min' },
  ),
  process_cpu_usage_ratio: gauge(
    'Share of the CPU time of the host between two scrapes, by mode: user, system, iowait.',
    ({ cpu = {} }) => Object.entries(cpu).map(([mode, value]) => [{ mode }, [value]] as const),
    { labels: ['mode'], ...ofMachine },
  ),
  process_memory_total_bytes: gauge(
    'Total memory of the host.',
    ({ memory }) => memory?.totalBytes,
    ofMachine,
  ),
  process_memory_available_bytes: gauge(
    'Memory of the host that is available without swapping.',
    ({ memory }) => memory?.availableBytes,
    ofMachine,
  ),
  process_memory_free_bytes: gauge(
    'Free memory of the host, without the page cache.',
    ({ memory }) => memory?.freeBytes,
    ofMachine,
  ),
  process_memory_usage_ratio: gauge(
    'Share of the memory of the host that is not available.',
    ({ memory }) =>
      memory === undefined || memory.totalBytes === 0
        ? undefined
        : 1 - memory.availableBytes / memory.totalBytes,
    ofMachine,
  ),
  process_disk_read_bytes_total: counter(
    'Bytes that the process read from storage.',
    ({ io }) => io?.readBytes,
  ),
  process_disk_written_bytes_total: counter(
    'Bytes that the process wrote to storage.',
    ({ io }) => io?.writtenBytes,
  ),
  process_disk_read_operations_total: counter(
    'Read system calls of the process, including sockets: Linux does not count file reads separately.',
    ({ io }) => io?.reads,
  ),
  process_disk_write_operations_total: counter(
    'Write system calls of the process, including sockets: Linux does not count file writes separately.',
    ({ io }) => io?.writes,
  ),
  process_network_receive_bytes_total: counter(
    'Bytes received by the interfaces of the network namespace (of a container, its own), without loopback.',
    ({ network }) => network?.receivedBytes,
    ofMachine,
  ),
  process_network_transmit_bytes_total: counter(
    'Bytes sent by the interfaces of the network namespace, without loopback.',
    ({ network }) => network?.sentBytes,
    ofMachine,
  ),
  ...pressureFigures,
  go_gc_cycles_total: counter(
    'Garbage collections of V8, by generation: young, or all.',
    () => collections().count,
  ),
  go_memstats_alloc_bytes: heapGauge('V8 heap used by objects.', usedHeap),
  go_memstats_heap_alloc_bytes: heapGauge('The same as go_memstats_alloc_bytes, as in Go.', usedHeap),
  go_memstats_heap_sys_bytes: heapGauge(
    'V8 heap reserved from the system.',
    ({ total_heap_size }) => total_heap_size,
  ),
  go_memstats_heap_inuse_bytes: heapGauge(
    'V8 heap in physical memory.',
    ({ total_physical_size }) => total_physical_size,
  ),
  go_memstats_heap_idle_bytes: heapGauge(
    'V8 heap reserved from the system but not in physical memory.',
    ({ total_heap_size, total_physical_size }) => Math.max(0, total_heap_size - total_physical_size),
  ),
  go_memstats_sys_bytes: heapGauge(
    'Memory that the runtime uses: heap, external buffers and its own data.',
    ({ total_heap_size, external_memory, malloced_memory }) =>
      total_heap_size + external_memory + malloced_memory,
  ),
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
