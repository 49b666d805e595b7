import type { Logger } from '../base/logger.js';
import type { MeterRegistry } from '../kernel/telemetry/meters.js';

/** Work of a process that serves already, but should not be sent requests yet. */
export interface Preparation {
  /** What keeps the process from being ready, as shown by /ready; undefined when nothing does. */
  readonly reason: string | undefined;
  /** Ends it, and resolves when nothing of it is left. Never rejects. */
  stop(): Promise<void>;
}

/** What a preparation has of the process. */
export interface PreparationHouse {
  readonly log: Logger;
  readonly registry: MeterRegistry;
  /** How many requests of clients are being answered. */
  readonly answering: () => number;
}
