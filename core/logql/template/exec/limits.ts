import { apiError } from '../../../base/errors/table.js';

/** Bounds on formatting one line (docs/protocol/errors-and-limits.md#formatting-of-lines); sizes are in bytes unless stated otherwise. */
export const formatLimits = {
  output: 64 * 1024,
  /** For all texts that a query's templates produce for one line. */
  lineOutput: 2 * 1024 * 1024,
  /** For all formatted lines of one response; counted where the response is written. */
  responseOutput: 16 * 1024 * 1024,
  printf: 64 * 1024,
  printfWidth: 65_536,
  arguments: 100,
  argumentData: 1024 * 1024,
  functionOutput: 1024 * 1024,
  steps: 100_000,
  nesting: 64,
  nodes: 1024,
} as const;

export type FormatLimit =
  | 'output'
  | 'printf'
  | 'printf width'
  | 'print input'
  | 'replacement'
  | 'function input'
  | 'function output'
  | 'execution'
  | 'nesting'
  | 'syntax';

/**
 * Ends the query because a template exceeds a limit.
 * @throws ApiError `lineFormatLimit`
 */
export function exceeded(limit: FormatLimit): never {
  throw apiError('lineFormatLimit', { limit });
}
