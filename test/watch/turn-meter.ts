/**
 * Loaded into a program with `--import`: measures each turn of its event loop and its memory, and reports them to the parent on request.
 * A turn is the work between two polls for input. Its CPU time is separate from the wait for input, and from the wait for a CPU that others
 * use. With `TURN_STACKS=30`, it also reports the call stack of a turn after 30 ms (Linux only).
 */
import cluster from 'node:cluster';
import { performance, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { openProcessorClock } from './processor-clock.js';
import type { Measures, MeterQuestion, StackSetup, Turn, TurnStack } from './measures.js';

const longTurnMs = 20;
/** Maximum number of long turns kept until the next request. */
const maxKept = 1_000;
const memoryEveryMs = 10;
const timesForProgram = 8;

const mebibyte = 1024 ** 2;
const turnNumber = new Int32Array(new SharedArrayBuffer(4));
const processorClock = openProcessorClock();

let turns: (Turn & { readonly number: number })[] = [];
let stacks = new Map<number, readonly string[]>();
let longestMs = 0;
let peakMiB = 0;
let livePeakMiB = 0;
let residentPeakMiB = 0;
let collections: { readonly at: number; readonly ms: number }[] = [];
let gcTimer: NodeJS.Timeout | undefined;

let before = now();
let memoryReadAt = 0;

interface Moment {
  readonly wall: number;
  readonly idle: number;
  readonly cpu: number;
}

function now(): Moment {
  return { wall: performance.now(), idle: performance.nodeTiming.idleTime, cpu: processorClock() };
}

/** Runs once per turn, after input was handled. It is unreferenced, so the loop sleeps as it would without it. */
function endTurn(): void {
  const after = now();
  const busy = after.wall - before.wall - (after.idle - before.idle);
  const own = Math.min(busy, after.cpu - before.cpu);
  longestMs = Math.max(longestMs, own);
  const number = Atomics.add(turnNumber, 0, 1);
  if (own >= longTurnMs && turns.length < maxKept)
    turns.push({ number, at: after.wall, ownMs: own, busyMs: busy });
  if (after.wall - memoryReadAt >= memoryEveryMs) {
    memoryReadAt = after.wall;
    peakMiB = Math.max(peakMiB, heldMiB());
    residentPeakMiB = Math.max(residentPeakMiB, residentMiB());
  }
  before = after;
  setImmediate(endTurn).unref();
}

function heldMiB(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return (used_heap_size + external_memory) / mebibyte;
}

function residentMiB(): number {
  return process.memoryUsage.rss() / mebibyte;
}

function collect(): number {
  const gc = globalThis.gc;
  if (gc === undefined) throw new Error('the program runs without --expose-gc');
  gc();
  return heldMiB();
}

const observer = new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries())
    if (duration >= longTurnMs / 4 && collections.length < maxKept)
      collections.push({ at: startTime + duration, ms: duration });
});
observer.observe({ entryTypes: ['gc'] });

/** Starts the thread that samples long turns. */
function watchStacks(lookedAtMs: number): void {
  const setup: StackSetup = { turn: turnNumber.buffer, lookedAtMs };
  const watcher = new Worker(new URL('./turn-stacks.js', import.meta.url), {
    workerData: setup,
    execArgv: [],
  });
  watcher.on('message', ({ turn, frames }: TurnStack) => {
    if (stacks.size < maxKept) stacks.set(turn, frames);
  });
  watcher.unref();
}

function start(liveEveryMs: number): void {
  turns = [];
  stacks = new Map();
  collections = [];
  longestMs = 0;
  peakMiB = heldMiB();
  livePeakMiB = 0;
  residentPeakMiB = residentMiB();
  clearTimeout(gcTimer);
  if (liveEveryMs > 0) watchLive(liveEveryMs);
  before = now();
}

/** Collects garbage repeatedly, but leaves most of the time to the program. */
function watchLive(everyMs: number): void {
  const startedAt = performance.now();
  livePeakMiB = Math.max(livePeakMiB, collect());
  const takenMs = performance.now() - startedAt;
  gcTimer = setTimeout(() => watchLive(everyMs), Math.max(everyMs, takenMs * timesForProgram)).unref();
}

function measures(): Measures {
  const explained = turns.map(({ number, ...turn }) => ({
    ...turn,
    frames: stacks.get(number) ?? [],
    gcMs: collections
      .filter(({ at }) => at <= turn.at && at >= turn.at - turn.busyMs)
      .reduce((sum, { ms }) => sum + ms, 0),
  }));
  return {
    turns: explained,
    longestMs,
    heldMiB: heldMiB(),
    peakMiB,
    livePeakMiB,
    residentMiB: residentMiB(),
    residentPeakMiB,
  };
}

// The parent of the program's workers is the program, which sends no requests to the meter.
if (!cluster.isWorker) {
  process.on('message', (question: MeterQuestion) => {
    if (question.meter === 'start') start(question.liveEveryMs ?? 0);
    if (question.meter === 'collect') {
      // The second run collects objects that waited for a finaliser.
      collect();
      collect();
    }
    process.send?.({ id: question.id, measures: measures() });
    // Exclude the time for the answer to the parent.
    before = now();
  });
  const lookedAtMs = Number(process.env['TURN_STACKS'] ?? 0);
  if (lookedAtMs > 0) watchStacks(lookedAtMs);
  // The channel to the parent must not keep the program running.
  process.channel?.unref();
}
setImmediate(endTurn).unref();
