import type { MetricExpr } from '../ast.js';
import { errorAt, type LogqlError } from '../error.js';

/**
 * Stands in the tree for a metric expression that is well formed but refused. An expression that is fine itself
 * takes over the fault of its first faulty part, so that the outermost and then the leftmost fault is told.
 */
export interface Invalid {
  readonly kind: 'invalid';
  readonly error: LogqlError;
}

/** What the actions of metric rules make. */
export type Metric = MetricExpr | Invalid;

export function invalid(message: string): Invalid {
  return { kind: 'invalid', error: errorAt(message) };
}

/** Raised by an action whose fault ends the reading at once, whatever was found before. */
export class ReadingAborted extends Error {
  override readonly name = 'ReadingAborted';
  constructor(readonly error: LogqlError) {
    super(error.message);
  }
}

/** Ends the reading with a fault. */
export function abort(message: string): never {
  throw new ReadingAborted(errorAt(message));
}
