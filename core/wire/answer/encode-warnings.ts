import type { Warned } from './parts.js';

/**
 * The warnings as the last member of a body. Loki puts them beside the data of queries; its other bodies have none, and their readers
 * ignore additional members.
 */
export function warningsText({ warnings }: Warned): string {
  return warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
}
