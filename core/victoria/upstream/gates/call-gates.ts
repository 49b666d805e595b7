import { apiError } from '../../../base/errors/table.js';
import { printGoMs } from '../../../base/time/index.js';
import type { Owner } from '../../../base/admission/fair-queue.js';
import { type WaitBudget, startTimer } from '../../../base/time/waits.js';
import { CallGate } from '../gate.js';

interface HeavyGateOptions {
  /** Maximum number of concurrent heavy queries; 0 means unlimited. */
  readonly limit: number;
  /** Maximum wait of a request, for the text of the error. */
  readonly queueWaitMs: number;
  /** Called when the number of running or waiting queries changes. */
  readonly onChange: (running: number, waiting: number) => void;
  /** Called for every rejected query. */
  readonly onRefused: () => void;
  readonly nowMs: () => number;
}

const maxWaiting = 500;

/**
 * Waits for a permit; the returned function releases it.
 * @param isBackground true if no client waits for the query: it does not queue, and leaves a permit free for others
 * @throws ApiError `heavyQueriesBusy`, `heavyQueueFull`, or the reason of the signal
 */
export type EnterHeavy = (
  owner: Owner,
  budget: WaitBudget,
  signal: AbortSignal,
  isBackground?: boolean,
) => Promise<() => void>;

/** Limits the heavy queries running on the backend at once (docs/protocol/operation.md#heavy-queries-and-metadata-scans). */
export function heavyGate(options: HeavyGateOptions): EnterHeavy {
  const { limit, queueWaitMs, onRefused } = options;
  const refusal = (isFull: boolean): Error => {
    onRefused();
    return isFull
      ? apiError('heavyQueueFull', { limit, waiting: maxWaiting })
      : apiError('heavyQueriesBusy', { limit, wait: printGoMs(queueWaitMs) });
  };
  const gate = new CallGate({
    ...{ ...options, waitMs: queueWaitMs, maxWaiting },
    full: () => refusal(true),
    late: () => refusal(false),
  });
  return async (owner, budget, signal, isBackground = false) => {
    if (limit === 0) return () => undefined;
    if (isBackground && gate.running + 1 >= limit) throw refusal(false);
    const permit = await gate.enter(owner, signal, budget);
    return () => permit.leave();
  };
}

interface PacedSlotsOptions {
  readonly permits: number;
  /** Time for which a permit stays taken after its call has ended. */
  readonly pauseMs: number;
  /** Called with the number of waiting calls. */
  readonly onChange: (waiting: number) => void;
}

/** All calls are equal, so permits go to them in order of arrival. */
const everyone = [''];

/**
 * Waits for a permit, in order of arrival; the returned function reports the end of the call.
 * @throws ApiError `statisticsQueueFull`, or the reason of the signal
 */
export type EnterPaced = (signal: AbortSignal) => Promise<() => void>;

/** A fixed number of permits. A permit stays taken for a pause after its call; the answer does not wait for it. */
export function pacedSlots({ permits, pauseMs, onChange }: PacedSlotsOptions): EnterPaced {
  const gate = new CallGate({
    limit: permits,
    // A call waits until its signal aborts.
    waitMs: Infinity,
    nowMs: () => performance.now(),
    maxWaiting,
    full: (limit, waiting) => apiError('statisticsQueueFull', { limit, waiting }),
    onChange: (_running, waiting) => onChange(waiting),
  });
  return async (signal) => {
    const permit = await gate.enter(everyone, signal);
    return () => {
      if (pauseMs === 0) permit.leave();
      // A pause must not keep a stopping process alive.
      else startTimer(() => permit.leave(), pauseMs).unref();
    };
  };
}
