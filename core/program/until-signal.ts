import { startInterval, startTimer } from '../base/time/waits.js';

/** A process that runs until it is closed. */
export interface Service {
  /** Work between the stop signal and `close`. Ends early if the signal is aborted. */
  leave?(hurry: AbortSignal): Promise<void>;
  close(): Promise<void>;
  reload?(): Promise<unknown>;
  /** Resolves with an exit status if it cannot go on. */
  readonly ended?: Promise<number>;
}

/** Signals within this time count as one: a terminal sends Ctrl-C both to npm and to the program that it runs, and npm forwards its own. */
const sameWishMs = 500;
/** Maximum time that pending writes, for example to a log without a reader, may keep a stopped process alive. */
const lastWritesMs = 1_000;

const stopSignals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Starts a service and runs it until SIGTERM, SIGINT or the end of the npm that runs it, then closes it; SIGHUP reloads it. During the
 * start, these cancel the start. A second signal ends the delay before the drain; if there is none, or it is over, it ends the process
 * immediately.
 */
export async function runUntilSignal(start: (signal: AbortSignal) => Promise<Service>): Promise<number> {
  const wish = new AbortController();
  const hurry = new AbortController();
  let isLeaving = false;
  let wishedMs = -Infinity;
  const stop = (): void => {
    const nowMs = performance.now();
    if (nowMs - wishedMs <= sameWishMs) return;
    wishedMs = nowMs;
    if (!wish.signal.aborted) wish.abort();
    else if (isLeaving) hurry.abort();
    else process.exit(1);
  };
  let service: Service | undefined;
  const onHangup = (): void => void service?.reload?.();
  for (const name of stopSignals) process.on(name, stop);
  forgetEarlySignals();
  process.on('SIGHUP', onHangup);
  const forgetParent = onParentsEnd(stop);
  try {
    service = await unlessStopped(start(wish.signal), wish.signal);
    if (service === undefined) return 0;
    const status = await Promise.race([aborted(wish.signal), service.ended ?? never]);
    if (wish.signal.aborted) {
      isLeaving = true;
      await service.leave?.(hurry.signal);
      isLeaving = false;
    }
    await service.close();
    return status;
  } finally {
    forgetParent();
    process.off('SIGHUP', onHangup);
    for (const name of stopSignals) process.off(name, stop);
    startTimer(() => process.exit(), lastWritesMs).unref();
  }
}

/** Handles signals of a process that has nothing to close yet: it ends with the status of one that has closed everything. */
export function endOnEarlySignals(): void {
  for (const name of stopSignals) process.on(name, endAtOnce);
}

function forgetEarlySignals(): void {
  for (const name of stopSignals) process.off(name, endAtOnce);
}

function endAtOnce(): void {
  process.exit(0);
}

/** The started service; undefined if the start was cancelled. */
async function unlessStopped(starting: Promise<Service>, signal: AbortSignal): Promise<Service | undefined> {
  try {
    return await starting;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

const never = new Promise<number>(() => undefined);

async function aborted(signal: AbortSignal): Promise<number> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return 0;
}

/** Set by the scripts of package.json to the process id of the npm that runs them. */
const parentVariable = 'REF_PROXY_PARENT';
const lookMs = 500;

/**
 * Calls back once when the npm that runs this process has ended: npm forwards SIGTERM and SIGINT, but not SIGHUP, and nothing if it is
 * killed; npx forwards signals to a shell that does not pass them on. A program started in another way only ends by signals.
 */
function onParentsEnd(callback: () => void): () => void {
  const parent = isRunByNpx() ? process.ppid : Number(process.env[parentVariable] ?? '');
  if (!(parent > 0)) return () => undefined;
  const timer = startInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, lookMs);
  return () => clearInterval(timer);
}

/** True if npx runs this program. npx sets a variable with its shell-quoted command; grandchildren inherit that variable. */
function isRunByNpx(): boolean {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = process.env;
  return event === 'npx' && /^['"]?ref-proxy\b/.test(script);
}
