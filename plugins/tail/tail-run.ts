import { ApiError, apiError, type Host, type UpgradeCall } from '../../core/plugin/index.js';
import type { TailOptions } from '../../core/base/options.gen.js';
import { FrameWriter } from '../../core/engine/tail/frames.js';
import { Outbox } from '../../core/engine/tail/outbox.js';
import type { LiveAnswer, LiveEvent } from '../../core/wire/answer/types.js';
import type { LiveSocket } from '../../core/plugin/index.js';
import type { tailMetrics } from './metrics.js';

type TailHost = Pick<Host<typeof tailMetrics>, 'log' | 'meters' | 'clock'>;
export type PumpOptions = Pick<TailOptions, 'maxDuration' | 'slowGrace' | 'stallTimeout'>;
type EndReason = 'client' | 'duration' | 'stalled' | 'shutdown' | 'backend';

const internalError = 1011;

/** One open tail: pulls entries and sends them until either side ends it. */
export class TailRun {
  readonly #call: Pick<UpgradeCall, 'caller' | 'signal'>;
  readonly #socket: LiveSocket;
  readonly #options: PumpOptions;
  readonly #host: TailHost;
  readonly #outbox: Outbox;
  readonly #startedMs: number;
  #reason: EndReason | undefined;
  #isTroubled = false;

  constructor(
    call: Pick<UpgradeCall, 'caller' | 'signal'>,
    socket: LiveSocket,
    options: PumpOptions,
    host: TailHost,
  ) {
    this.#call = call;
    this.#socket = socket;
    this.#options = options;
    this.#host = host;
    this.#startedMs = host.clock.monotonicMs();
    this.#outbox = new Outbox({
      frames: new FrameWriter(call.caller.categorizeLabels),
      send: (text) => socket.send(text),
      graceMs: options.slowGrace,
      stallMs: options.stallTimeout,
      onStalled: () => {
        this.#reason ??= 'stalled';
        socket.terminate();
      },
    });
  }

  /** Resolves when the tail has ended for any reason. */
  async run(live: LiveAnswer): Promise<void> {
    const { maxDuration } = this.#options;
    const timer = maxDuration > 0 ? setTimeout(() => this.#endByDuration(), maxDuration) : undefined;
    try {
      this.#outbox.sendAtOnce(live.history);
      for await (const event of live.events) await this.#take(event);
    } catch (error) {
      if (!this.#call.signal.aborted) this.#endByBackend(error);
    } finally {
      clearTimeout(timer);
      this.#report();
    }
  }

  async #take(event: LiveEvent): Promise<void> {
    const { log, meters } = this.#host;
    switch (event.kind) {
      case 'entries': {
        this.#isTroubled = false;
        const before = this.#outbox.droppedCount;
        await this.#outbox.offer(event.entries);
        meters.tail_dropped_entries_total.add(this.#outbox.droppedCount - before, {});
        if (event.isEarly) meters.tail_early_entries_total.add(event.entries.length, {});
        return;
      }
      case 'trouble':
        meters.tail_failed_polls_total.add(1, {});
        // While a backend is down every poll fails, which is logged once.
        if (!this.#isTroubled) log.warn('a tail failed to poll for new lines', { error: event.error });
        this.#isTroubled = true;
    }
  }

  #endByDuration(): void {
    this.#reason ??= 'duration';
    this.#socket.close(internalError, 'reached tail max duration limit');
  }

  #endByBackend(error: unknown): void {
    this.#reason ??= 'backend';
    const shown = error instanceof ApiError ? error : apiError('internal', {}, { cause: error });
    this.#host.log.warn('a tail failed', { error });
    this.#socket.close(internalError, shown.message);
  }

  #report(): void {
    const { log, meters, clock } = this.#host;
    const reason: unknown = this.#call.signal.reason;
    const isStopping = reason instanceof ApiError && reason.status === 503;
    const ended = this.#reason ?? (isStopping ? 'shutdown' : 'client');
    meters.tail_entries_total.add(this.#outbox.sentCount, {});
    meters.tail_ended_total.add(1, { reason: ended });
    log.info('tail ended', {
      'tail.reason': ended,
      'tail.entries': this.#outbox.sentCount,
      'tail.dropped_entries': this.#outbox.droppedCount,
      'event.duration': Math.round((clock.monotonicMs() - this.#startedMs) * 1e6),
    });
  }
}
