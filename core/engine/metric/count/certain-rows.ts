import type { LogsqlFilter, StreamMatcher } from '../../../victoria/logsql/ast.js';
import { and, matcher, not } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { rowsOfStreams } from '../row-windows.js';
import type { StreamListing } from './stream-listing.js';

/** The streams with uncertain lines; undefined if they are unknown. */
export interface Certainty {
  readonly uncertainStreams: ReadonlySet<string> | undefined;
}

/** Rows to count, and what is known of their lines. */
export interface CertainRows {
  readonly profile: Certainty;
  /** Matches the rows among those of the selection. */
  readonly within: LogsqlFilter;
  /** True if reading them takes less time than letting the backend find their levels. */
  readonly areFew: boolean;
}

/** Maximum number of rows to read because of their lines. */
const maxReadRows = 50_000;
/** Maximum length of a filter for streams; with more streams, all rows count as uncertain. */
const maxFilterBytes = 4000;
const unknown = { uncertainStreams: undefined };
const allUncertain: readonly CertainRows[] = [{ profile: unknown, within: and(), areFew: false }];

/** The rows of streams whose lines are all certain, and all other rows. */
export function rowsByCertainty(
  { uncertainStreams }: Certainty,
  { streams, listed }: StreamListing,
): readonly CertainRows[] {
  if (uncertainStreams === undefined) return allUncertain;
  const certain = { uncertainStreams: new Set<string>() };
  const texts = [...streams.keys()];
  const uncertain = texts.filter((text) => uncertainStreams.has(text));
  if (uncertain.length === 0) return [{ profile: certain, within: and(), areFew: false }];
  const namesUncertain = 2 * uncertain.length <= texts.length;
  const filter = streamsFilter(
    namesUncertain ? uncertain : texts.filter((text) => !uncertainStreams.has(text)),
    streams,
  );
  if (filter === undefined) return allUncertain;
  const rows = rowsOfStreams(listed.filter(({ value }) => uncertainStreams.has(value)));
  return [
    { profile: certain, within: namesUncertain ? not(filter) : filter, areFew: false },
    { profile: unknown, within: namesUncertain ? filter : not(filter), areFew: rows <= maxReadRows },
  ];
}

/** Matches the rows of these streams, by all labels, including those that a stream does not have; undefined for no streams or too many. */
function streamsFilter(
  texts: readonly string[],
  streams: StreamListing['streams'],
): LogsqlFilter | undefined {
  const names = new Set([...streams.values()].flatMap(({ fields }) => [...fields.keys()]));
  const groups = texts.map((text): readonly StreamMatcher[] =>
    [...names].map((name) => matcher(name, '=', streams.get(text)?.fields.get(name) ?? '')),
  );
  // A selector without groups would match all rows.
  if (groups.length === 0) return undefined;
  const filter: LogsqlFilter = { kind: 'stream', groups };
  return Buffer.byteLength(printFilter(filter)) > maxFilterBytes ? undefined : filter;
}

/** True if both are known and equal, or both are unknown. */
export function isSameCertainty(
  { uncertainStreams: a }: Certainty,
  { uncertainStreams: b }: Certainty,
): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.size === b.size && [...a].every((text) => b.has(text));
}
