import type { SlotTable } from './slot-table.js';
import { clashSuffix, errorLabel } from './types.js';

/**
 * What parsers need not do. A metric query sees only the labels that its stages and its grouping name, so parsers take no
 * others, stop when all are found, and do not run at all when there is none; errors that this leaves unseen stay unseen.
 */
export interface Hints {
  /** Names that parsers take; undefined when every label can be seen. */
  readonly required: ReadonlySet<string> | undefined;
  /** Parsers leave the line alone. */
  readonly skipsParsers: boolean;
  /** The query names `__error__`: errors of parsers must not fail it. */
  readonly preservesErrors: boolean;
}

/** All labels of log queries are seen. */
export const noHints: Hints = { required: undefined, skipsParsers: false, preservesErrors: false };

/** The hints for a query that sees nothing but these names. */
export function hintsFor(names: readonly string[]): Hints {
  const required = new Set<string>();
  for (const name of names) {
    required.add(name);
    // A label that is called so because of a clash has the plain name in the line.
    if (name.endsWith(clashSuffix)) required.add(name.slice(0, -clashSuffix.length));
  }
  return { required, skipsParsers: required.size === 0, preservesErrors: required.has(errorLabel) };
}

/** Marks the slots of required names; the query holds them for its life. */
export function markRequired(slots: SlotTable, { required }: Hints): void {
  for (const name of required ?? []) slots.pin(name).isRequired = true;
}
