import type { MetricExpr } from '../ast.js';
import { errorAt, type LogqlError } from '../error.js';

/**
 * Replaces a metric expression that is well formed but invalid. A valid expression takes over the error of its first invalid part, so that
 * the outermost and then the leftmost error is reported.
 */
export interface Invalid {
  readonly kind: 'invalid';
  readonly error: LogqlError;
  /** A number: an operator reports it before its other faults. */
  readonly isLiteral: boolean;
}

/** The result of the actions of metric rules. */
export type Metric = MetricExpr | Invalid;

export function invalid(message: string, isLiteral = false): Invalid {
  return { kind: 'invalid', error: errorAt(message), isLiteral };
}

/** Something invalid as a part of something else. */
export function nested(part: Invalid): Invalid {
  return { ...part, isLiteral: false };
}

/** Thrown by an action whose error ends parsing immediately, whatever was found before. */
export class ReadingAborted extends Error {
  override readonly name = 'ReadingAborted';
  constructor(readonly error: LogqlError) {
    super(error.message);
  }
}

/** Ends parsing with an error. */
export function abort(message: string): never {
  throw new ReadingAborted(errorAt(message));
}
