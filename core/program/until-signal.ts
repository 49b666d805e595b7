import { onParentsEnd } from './parent.js';

/** A process that runs until it is closed. */
export interface Service {
  close(): Promise<void>;
  reload?(): Promise<unknown>;
  /** Resolves with an exit status when it cannot go on. */
  readonly ended?: Promise<number>;
}

/** Signals within this time count as one: a terminal sends Ctrl-C to npm and to the program npm runs, and npm forwards its own. */
const sameWishMs = 500;
/** How long pending writes, for example to a log without a reader, may keep a stopped process alive. */
const lastWritesMs = 1_000;

const stopSignals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Starts a service and runs it until SIGTERM, SIGINT or the end of the npm that runs it, then closes it; SIGHUP reloads it. During the
 * start, these cancel the start. A second signal ends the process immediately, without waiting for the drain.
 */
export async function runUntilSignal(start: (signal: AbortSignal) => Promise<Service>): Promise<number> {
  const wish = new AbortController();
  let wishedMs = 0;
  const stop = (): void => {
    if (!wish.signal.aborted) {
      wishedMs = performance.now();
      wish.abort();
    } else if (performance.now() - wishedMs > sameWishMs) {
      process.exit(1);
    }
  };
  let service: Service | undefined;
  const onHangup = (): void => void service?.reload?.();
  for (const name of stopSignals) process.on(name, stop);
  process.on('SIGHUP', onHangup);
  const forgetParent = onParentsEnd(stop);
  try {
    service = await unlessStopped(start(wish.signal), wish.signal);
    if (service === undefined) return 0;
    const status = await Promise.race([aborted(wish.signal), service.ended ?? never]);
    await service.close();
    return status;
  } finally {
    forgetParent();
    process.off('SIGHUP', onHangup);
    for (const name of stopSignals) process.off(name, stop);
    setTimeout(() => process.exit(), lastWritesMs).unref();
  }
}

/** Undefined when the start failed because it was cancelled. */
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
