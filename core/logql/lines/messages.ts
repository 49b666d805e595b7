import type { Fault } from '../../base/errors/fault.js';
import type { LineWork, SentEntry } from './work.js';

/** One line for a worker. */
export interface WorkerRequest {
  /** Identifies the work. */
  readonly key: number;
  /** The work, if this worker does not have it yet. */
  readonly work: LineWork | undefined;
  /** Drops all work received so far. */
  readonly forgets: boolean;
  readonly entry: SentEntry;
}

/** A worker's result. */
export type WorkerResult = { readonly result: unknown } | { readonly fault: Fault };
