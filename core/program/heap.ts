import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from '../base/logger.js';

const megabyte = 1024 * 1024;
/** Of the memory of a container, the part that the objects of V8 may take together with the program itself; buffers have the rest. */
const heapShare = 0.75;
/** Memory of the program outside of V8's old generation. */
const programMegabytes = 96;
/** With less, the program does not start. */
const leastMegabytes = 64;
/** Megabytes of each half of the nursery, which is beside the old generation; newer releases of Node.js would take more. */
const semiSpaceMegabytes = 16;
/** Set when this process has chosen the size of its own heap. */
const fittedVariable = 'REF_PROXY_HEAP_FITTED';

/** The limit of the control group in bytes; undefined where it is none, or more than the machine has. */
export function containerLimit(): number | undefined {
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < totalmem() ? bytes : undefined;
}

/** The limit of the old generation, in megabytes, of each of several processes in a container. */
export function oldSpaceFor(containerBytes: number, processes = 1): number {
  const megabytes = (heapShare * containerBytes) / megabyte / processes - programMegabytes;
  return Math.max(leastMegabytes, Math.floor(megabytes));
}

/**
 * Replaces this process by itself with a heap that fits the container: V8 reads the size once, before any code runs, and would take half of
 * the container's memory, but 256 MB of the smallest. A size that is set explicitly is kept. Without a limit of the container, and where
 * Node.js cannot replace a process (before 22.15), nothing happens.
 */
export function fitHeap(): void {
  const limit = containerLimit();
  const execve: unknown = Reflect.get(process, 'execve');
  if (limit === undefined || typeof execve !== 'function' || isChosen() || isFitted()) return;
  const args = [process.execPath, ...heapFlags(limit), ...process.execArgv, ...process.argv.slice(1)];
  Reflect.apply(execve, process, [process.execPath, args, { ...process.env, [fittedVariable]: 'true' }]);
}

/** The flags of Node.js with which each of several processes is started. */
export function execArgvOf(processes: number): readonly string[] {
  const limit = containerLimit();
  const given = isFitted() ? process.execArgv.slice(heapFlags(0).length) : process.execArgv;
  return limit === undefined || isChosen() ? given : [...heapFlags(limit, processes), ...given];
}

/** The available memory, for the record of the start. */
export function memoryFields(): Readonly<Record<string, number>> {
  const container = containerLimit();
  return {
    'memory.heap_limit': getHeapStatistics().heap_size_limit,
    ...(container === undefined ? {} : { 'memory.container_limit': container }),
  };
}

/** Warns of a heap that may outgrow the container, which would then end the process without a word. */
export function warnOfHeap(log: Logger, container = containerLimit()): void {
  const heap = getHeapStatistics().heap_size_limit;
  if (container === undefined || heap + programMegabytes * megabyte <= container) return;
  const flag = `--max-old-space-size=${oldSpaceFor(container)}`;
  log.warn(`the heap may outgrow the memory of the container: set NODE_OPTIONS=${flag}, or allow more`, {
    'memory.heap_limit': heap,
    'memory.container_limit': container,
  });
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

/** True when the command line of Node.js or NODE_OPTIONS sets the size of the heap. */
function isChosen(): boolean {
  if (isFitted()) return false;
  const flags = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  return flags.some((flag) => /--max[-_](?:old[-_]space|heap)[-_]size/.test(flag));
}
