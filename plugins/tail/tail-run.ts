import { ApiError, apiError, type Host, type LiveSocket, type UpgradeCall } from '../../core/plugin/index.js';
import type { TailOptions } from '../../core/base/options.gen.js';
import { FrameWriter } from '../../core/engine/tail/frames.js';
import { Outbox } from '../../core/engine/tail/outbox.js';
import type { LiveAnswer, LiveEvent } from '../../core/wire/answer/types.js';
import type { tailMetrics } from './metrics.js';
import { startTimer } from '../../core/base/time/waits.js';

type EndReason = 'client' | 'duration' | 'stalled' | 'shutdown' | 'backend';

/** The close code for errors. */
export const internalError = 1011;

/** Serves one open tail: pulls entries and sends them until either side ends it. Resolves when it has ended for any reason. */
export async function runTail(
  live: LiveAnswer,
  { caller, signal }: Pick<UpgradeCall, 'caller' | 'signal'>,
  socket: LiveSocket,
  options: Pick<TailOptions, 'maxDuration' | 'slowGrace' | 'stallTimeout'>,
  { log, meters, clock }: Pick<Host<typeof tailMetrics>, 'log' | 'meters' | 'clock'>,
): Promise<void> {
  const startedMs = clock.monotonicMs();
  let endedBy: EndReason | undefined;
  let isTroubled = false;
  const outbox = new Outbox({
    frames: new FrameWriter(caller.categorizeLabels),
    send: (text) => socket.send(text),
    graceMs: options.slowGrace,
    stallMs: options.stallTimeout,
    onStalled: () => {
      endedBy ??= 'stalled';
      socket.terminate();
    },
  });
  const close = (reason: EndReason, text: string): void => {
    endedBy ??= reason;
    socket.close(internalError, text);
  };
  const take = async (event: LiveEvent): Promise<void> => {
    if (event.kind === 'trouble') {
      meters.tail_failed_polls_total.add(1, {});
      // While a backend is down every poll fails, which is logged once.
      if (!isTroubled) log.warn('a tail failed to poll for new lines', { error: event.error });
      isTroubled = true;
      return;
    }
    isTroubled = false;
    const before = outbox.droppedCount;
    await outbox.offer(event.entries);
    meters.tail_dropped_entries_total.add(outbox.droppedCount - before, {});
    if (event.isEarly) meters.tail_early_entries_total.add(event.entries.length, {});
  };
  const report = (): void => {
    const cause: unknown = signal.reason;
    const isStopping = cause instanceof ApiError && cause.status === 503;
    const reason = endedBy ?? (isStopping ? 'shutdown' : 'client');
    meters.tail_entries_total.add(outbox.sentCount, {});
    meters.tail_ended_total.add(1, { reason });
    log.info('tail ended', {
      'tail.reason': reason,
      'tail.entries': outbox.sentCount,
      'tail.dropped_entries': outbox.droppedCount,
      'event.duration': Math.round((clock.monotonicMs() - startedMs) * 1e6),
    });
  };
  const endByDuration = (): void => close('duration', 'reached tail max duration limit');
  const { maxDuration } = options;
  const timer = maxDuration > 0 ? startTimer(endByDuration, maxDuration) : undefined;
  try {
    outbox.sendAtOnce(live.history);
    for await (const event of live.events) await take(event);
  } catch (error) {
    if (!signal.aborted) {
      const shown = error instanceof ApiError ? error : apiError('internal', {}, { cause: error });
      log.warn('a tail failed', { error });
      close('backend', shown.message);
    }
  } finally {
    clearTimeout(timer);
    report();
  }
}
