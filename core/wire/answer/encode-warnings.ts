import type { Warned } from './parts.js';

/**
 * The warnings as the last member of a body. Loki has them beside the data of queries; other bodies have no place for them, and their
 * readers ignore a member more.
 */
export function warningsText({ warnings }: Warned): string {
  return warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
}
