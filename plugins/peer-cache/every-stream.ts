/** What the list of all streams tells about their names, values and selections. */
import type { LogsqlFilter } from '../../core/victoria/logsql/ast.js';
import { everything, query } from '../../core/victoria/logsql/build.js';
import { compileFilter } from '../../core/victoria/logsql/eval/filter.js';
import { MapRow } from '../../core/victoria/logsql/row.js';
import { isOfStreams } from '../../core/victoria/logsql/selection.js';
import { parseStreamText } from '../../core/victoria/names/stream-text.js';
import type { ListingQuestion } from '../../core/victoria/upstream/types.js';

export const everyStream: ListingQuestion = { listing: 'streams', query: query(everything) };

/** What a stream, as its text, adds to a listing. */
export type Reading = (stream: string) => readonly string[];

/** Each matcher of a selection is compiled, and tried with each stream; the backend's index has them in less time than so many take here. */
const maxMatchers = 100;

/** How a listing is read from streams; undefined for one that depends on rows, or whose selection is long. */
export function readingOf({ listing, field, query: asked }: ListingQuestion): Reading | undefined {
  const { filter, pipes, options } = asked;
  if (pipes.length > 0 || Object.keys(options).length > 0 || !isOfStreams(filter)) return undefined;
  if (matchersIn(filter) > maxMatchers) return undefined;
  const read = readerOf(listing, field);
  if (read === undefined) return undefined;
  const matches = compileFilter(filter);
  return (stream) => (matches(new MapRow(new Map([['_stream', stream]]))) ? read(stream) : []);
}

function matchersIn(filter: LogsqlFilter): number {
  switch (filter.kind) {
    case 'stream':
      return filter.groups.flat().length;
    case 'and':
    case 'or':
      return filter.parts.reduce((sum, part) => sum + matchersIn(part), 0);
    case 'not':
      return matchersIn(filter.filter);
    default:
      return 1;
  }
}

function readerOf(listing: ListingQuestion['listing'], field: string | undefined): Reading | undefined {
  switch (listing) {
    case 'streams':
      return (stream) => [stream];
    case 'stream_field_names':
      return (stream) => parseStreamText(stream).map(([name]) => name);
    case 'stream_field_values':
      return (stream) => parseStreamText(stream).flatMap(([name, value]) => (name === field ? [value] : []));
    case 'field_names':
    case 'field_values':
      return undefined;
  }
}
