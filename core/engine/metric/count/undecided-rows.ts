import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, everything, exact, matcher, streamMatch } from '../../../victoria/logsql/build.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import { levelNames } from '../../../victoria/names/level-words.js';
import type { Naming } from '../../../victoria/names/naming.js';
import type { LeafPush } from '../../plan/types.js';
import { hasName, type DecidingFields } from './grouping.js';
import type { StreamListing } from './stream-listing.js';

const levelLabels: ReadonlySet<string> = new Set(levelNames);

/** Whether the level found in a line matters. */
export function readsLevels({ names, looksAtLines }: LeafPush, naming: Naming): boolean {
  return looksAtLines && hasName(names, detectedLevelName) && naming.scansBodies;
}

export function streamsWithoutLevel({ streams }: StreamListing): readonly string[] {
  return [...streams].filter(([, { level }]) => level === undefined).map(([text]) => text);
}

/** Rows whose level may be in their line. */
export interface UndecidedRows {
  /** Rows of streams without a level. */
  readonly selection: LogsqlFilter;
  /** Those of them of which no stored field decides it, together with others that must be read. */
  readonly filter: LogsqlFilter;
}

/** Rows of streams without a level. */
export function rowsWithoutLevel({ streams }: StreamListing): LogsqlFilter {
  const fields = new Set<string>();
  for (const { labelFields } of streams.values())
    for (const [field, label] of labelFields) if (levelLabels.has(label)) fields.add(field);
  return fields.size === 0 ? everything : streamMatch(...[...fields].map((name) => matcher(name, '=', '')));
}

export function undecidedRows(streamListing: StreamListing, deciding: DecidingFields): UndecidedRows {
  const selection = rowsWithoutLevel(streamListing);
  const unfilled = deciding.hasOtlp ? and() : and(...deciding.levels.map((name) => exact(name, '')));
  return { selection, filter: and(selection, unfilled) };
}
