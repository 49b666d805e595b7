import { RefusedQuery } from '../base/errors/refused-query.js';
import type { Span } from './ast.js';
import { wellFormed } from './values/raw-bytes.js';

/** A query that Loki refuses; the message is Loki's, word for word. */
export class LogqlError extends RefusedQuery {
  override readonly name = 'LogqlError';

  /** @param part what the query could have something else for: the text of a range, or a selector */
  constructor(
    message: string,
    readonly part?: Span,
  ) {
    super(message);
  }
}

/** An error at a position of the query; without line and column, the message has no position. */
export function errorAt(message: string, line = 0, column = 0, part?: Span): LogqlError {
  const place = line === 0 && column === 0 ? ' ' : ` at line ${String(line)}, col ${String(column)}`;
  return new LogqlError(`parse error${place}: ${wellFormed(message)}`, part);
}
