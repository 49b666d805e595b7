import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { LogFields, Logger } from '../base/logger.js';

const megabyte = 1024 * 1024;
/** Share of a container's memory for V8's heap and the program itself; buffers have the rest. */
const heapShare = 0.75;
/** Memory of the program outside of V8's old generation, in megabytes. */
const programMegabytes = 96;
/** Minimum heap with which the program starts, in megabytes. */
const minMegabytes = 64;
/** Megabytes of each half of the nursery, in addition to the old generation; newer releases of Node.js would take more. */
const semiSpaceMegabytes = 16;
/** Set if this process has already chosen its heap size. */
const fittedVariable = 'REF_PROXY_HEAP_FITTED';

/** The memory limit of the control group in bytes; undefined if there is none, or if it exceeds the machine's memory. */
function containerLimit(): number | undefined {
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < totalmem() ? bytes : undefined;
}

/** The limit of the old generation in megabytes, for each of several processes in a container. */
export function oldSpaceFor(containerBytes: number, processes = 1): number {
  const megabytes = (heapShare * containerBytes) / megabyte / processes - programMegabytes;
  return Math.max(minMegabytes, Math.floor(megabytes));
}

/**
 * Replaces this process by itself with a heap that fits the container. V8 reads the size once, before any code runs, and would take half of
 * the container's memory, or all but 256 MB of the smallest containers. An explicitly set size is kept. Nothing happens without a container
 * limit, or if Node.js cannot replace a process (before 22.15).
 */
export function fitHeap(): void {
  const limit = containerLimit();
  const execve: unknown = Reflect.get(process, 'execve');
  if (limit === undefined || typeof execve !== 'function' || isChosen() || isFitted()) return;
  const args = [process.execPath, ...heapFlags(limit), ...process.execArgv, ...process.argv.slice(1)];
  Reflect.apply(execve, process, [process.execPath, args, { ...process.env, [fittedVariable]: 'true' }]);
}

/** The Node.js flags for starting each of several processes. */
export function execArgvOf(processes: number): readonly string[] {
  const limit = containerLimit();
  const given = isFitted() ? process.execArgv.slice(heapFlags(0).length) : process.execArgv;
  return limit === undefined || isChosen() ? given : [...heapFlags(limit, processes), ...given];
}

/** The available memory, for the log record of the start. */
export function memoryFields(): LogFields {
  return {
    'memory.heap_limit': getHeapStatistics().heap_size_limit,
    'memory.container_limit': containerLimit(),
  };
}

/** Warns of a heap that may outgrow the container, which would then kill the process without a message. */
export function warnOfHeap(log: Logger, container = containerLimit()): void {
  const heap = getHeapStatistics().heap_size_limit;
  if (container === undefined || heap + programMegabytes * megabyte <= container) return;
  const flag = `--max-old-space-size=${oldSpaceFor(container)}`;
  log.warn(
    `the heap may outgrow the memory of the container: set NODE_OPTIONS=${flag}, or raise the memory limit of the container`,
    {
      'memory.heap_limit': heap,
      'memory.container_limit': container,
    },
  );
}

function heapFlags(limit: number, processes = 1): readonly string[] {
  return [
    `--max-old-space-size=${oldSpaceFor(limit, processes)}`,
    `--max-semi-space-size=${semiSpaceMegabytes}`,
  ];
}

function isFitted(): boolean {
  return process.env[fittedVariable] !== undefined;
}

/** True if the command line of Node.js or NODE_OPTIONS sets the heap size. */
function isChosen(): boolean {
  if (isFitted()) return false;
  const flags = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  return flags.some((flag) => /--max[-_](?:old[-_]space|heap)[-_]size/.test(flag));
}
