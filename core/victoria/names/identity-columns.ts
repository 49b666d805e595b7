import type { LogsqlFilter } from '../logsql/ast.js';
import { or, regexp } from '../logsql/build.js';
import { isOwnColumn, type BackendValue } from '../upstream/types.js';
import { detectedLevelName } from './level.js';
import type { Naming } from './naming.js';
import { mayBeFilledIn } from './otlp-fill.js';
import { longDecimalPattern } from './shown-value.js';
import type { StreamIdentity } from './stream-identity.js';

/** The stored fields in which rows of one stream may differ, the most frequent ones first. */
export function storedColumns(
  listed: readonly BackendValue[],
  streams: readonly StreamIdentity[],
): readonly string[] {
  return [...listed]
    .sort((a, b) => b.hits - a.hits)
    .map(({ value }) => value)
    .filter((field) => !isOwnColumn(field) && !streams.every(({ fields }) => fields.has(field)));
}

/** A stored field by which the backend can tell entries apart. */
export interface IdentityColumn {
  readonly field: string;
  /** Rows in which the value may be shown otherwise than it is stored: two rows of one entry may then have different values. */
  readonly inexact: LogsqlFilter;
}

const ids: ReadonlySet<string> = new Set(['trace_id', 'span_id']);
const onlyZeros = '^0+$';

/**
 * The fields by which the backend can tell entries apart. Rows of one entry (see identityOf) have the same value in each field without inexact
 * rows. Two entries may still have the same values in all of them: fields that are shown under other names or values are left out.
 */
export function identityColumns(
  listed: readonly BackendValue[],
  streams: readonly StreamIdentity[],
  naming: Naming,
): readonly IdentityColumn[] {
  const hasOtlp = streams.some(({ looksLikeOtlp }) => looksLikeOtlp);
  const uses = new Map<string, number>();
  const shownNames = (field: string): ReadonlySet<string> =>
    new Set((hasOtlp ? [false, true] : [false]).flatMap((isOtlp) => naming.metadataNames(field, isOtlp)));
  for (const { value } of listed)
    for (const name of shownNames(value)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const labels = new Set<string>();
  for (const { labelFields } of streams) for (const field of labelFields.keys()) labels.add(field);
  const isShownAsStored = (field: string): boolean => {
    const isFilledIn = hasOtlp && mayBeFilledIn(field) && !ids.has(field);
    if (labels.has(field) || isFilledIn) return false;
    return [...shownNames(field)].every((name) => uses.get(name) === 1 && name !== detectedLevelName);
  };
  return storedColumns(listed, streams)
    .filter(isShownAsStored)
    .map((field) => {
      const isDecimal = regexp(field, longDecimalPattern);
      return {
        field,
        inexact: hasOtlp && ids.has(field) ? or(isDecimal, regexp(field, onlyZeros)) : isDecimal,
      };
    });
}
