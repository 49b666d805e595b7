import type { Clock } from '../base/clock.js';
import type { LogFields, Logger } from '../base/logger.js';
import { StoreFailure, type StoreFailureReason } from './shared-store-link.js';

/**
 * Why an answer was not written, or one that was read not used. `refused`: too large, or too many wait. `expired`: too little time is left.
 * `off`: the store is not in use, or not yet known well enough. `purged`: written before a purge. `full`, `lost`: the store did not take
 * it. `damaged`, `version`, `large`: not what was written under this key, or not by such a process.
 */
export type SharedDrop =
  'refused' | 'expired' | 'off' | 'purged' | 'full' | 'lost' | 'damaged' | 'version' | 'large';

/** Notified of what happens, for metrics. */
export interface SharedObserver {
  /** @param ageMs of the answer that was found in time; undefined for none */
  looked(tookMs: number, ageMs: number | undefined): void;
  wrote(): void;
  dropped(reason: SharedDrop, count: number): void;
  failed(reason: StoreFailureReason): void;
  /** Whether the store is in use. */
  switched(isOn: boolean): void;
  /** Bytes of answers that wait to be written. */
  waiting(bytes: number): void;
  /** A purge by this process that the store has, or by another one that it has told. */
  purged(by: 'this' | 'another'): void;
}

/** Least time between two records that say the same. */
const logEveryMs = 60_000;

/** What the parts of the shared store tell: counted, and in the log without repeating themselves. */
export class SharedNews {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #log: Logger;
  readonly #where: LogFields;
  /** By what is told, when it may be told again. */
  readonly #againAtMs = new Map<string, number>();

  constructor(
    readonly observer: SharedObserver,
    clock: Pick<Clock, 'monotonicMs'>,
    log: Logger,
    address: string,
  ) {
    this.#clock = clock;
    this.#log = log;
    this.#where = { 'server.address': address };
  }

  info(body: string): void {
    this.#log.info(body, this.#where);
  }

  warn(body: string, fields: LogFields = {}): void {
    this.#log.warn(body, { ...this.#where, ...fields });
  }

  error(body: string, fields: LogFields): void {
    this.#log.error(body, { ...this.#where, ...fields });
  }

  warnNowAndThen(body: string, fields: LogFields = {}): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < (this.#againAtMs.get(body) ?? -Infinity)) return;
    this.#againAtMs.set(body, nowMs + logEveryMs);
    this.warn(body, fields);
  }

  failed(error: unknown): StoreFailureReason {
    const reason = error instanceof StoreFailure ? error.reason : 'other';
    this.observer.failed(reason);
    return reason;
  }

  /** Undefined when it failed, which is counted. */
  async attempt<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }
}
