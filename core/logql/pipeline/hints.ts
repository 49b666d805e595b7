import type { SlotTable } from './slot.js';
import { clashSuffix, errorLabel } from './types.js';

/**
 * Work that parsers may skip. A metric query only uses the labels that its stages and its grouping name, so parsers extract no others, stop
 * once all are found, and do not run when none are needed. Errors that are missed this way stay unreported, as in Loki.
 */
export interface Hints {
  /** Names that parsers extract; undefined when every label may be used, and for a parser that runs although it could be skipped. */
  readonly required: ReadonlySet<string> | undefined;
  /** True when parsers do not run at all, except `regexp`. */
  readonly skipsParsers: boolean;
  /** True if the query names `__error__`, so errors of parsers must not fail it. */
  readonly preservesErrors: boolean;
}

/** Log queries show all labels. */
export const noHints: Hints = { required: undefined, skipsParsers: false, preservesErrors: false };

/** The hints for a query that only uses these names. */
export function hintsFor(names: readonly string[]): Hints {
  const required = new Set<string>();
  for (const name of names) {
    required.add(name);
    // A label renamed because of a name clash has the plain name in the line.
    if (name.endsWith(clashSuffix)) required.add(name.slice(0, -clashSuffix.length));
  }
  const skipsParsers = required.size === 0;
  return {
    required: skipsParsers ? undefined : required,
    skipsParsers,
    preservesErrors: required.has(errorLabel),
  };
}

/** Marks the slots of required names, which the query keeps for its lifetime. */
export function markRequired(slots: SlotTable, { required }: Hints): void {
  for (const name of required ?? []) slots.pin(name).isRequired = true;
}
