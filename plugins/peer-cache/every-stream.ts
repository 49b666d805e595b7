/** What the list of all streams tells about their names, values and selections. */
import { everything, query } from '../../core/victoria/logsql/build.js';
import { streamTestOf } from '../../core/victoria/logsql/eval/stream-filter.js';
import { parseStreamText } from '../../core/victoria/names/stream-text.js';
import type { ListingRequest } from '../../core/victoria/upstream/types.js';

/** What is listed, of any time. */
export type Question = Omit<ListingRequest, 'range' | 'hits'>;

export const everyStream: Question = { listing: 'streams', query: query(everything) };

/** What a stream, as its text, adds to a listing. */
export type Reading = (stream: string) => readonly string[];

const nothing: readonly string[] = [];

/** How a listing is read from streams; undefined for one that depends on rows. */
export function readingOf({
  listing,
  field,
  query: { filter, pipes, options },
}: Question): Reading | undefined {
  const test = pipes.length === 0 && Object.keys(options).length === 0 ? streamTestOf(filter) : undefined;
  if (test === undefined) return undefined;
  const found = (stream: string): ReadonlyMap<string, string> | undefined => {
    const labels = new Map(parseStreamText(stream));
    return test((label) => labels.get(label) ?? '') ? labels : undefined;
  };
  switch (listing) {
    case 'streams':
      return filter.kind === 'all'
        ? (stream) => [stream]
        : (stream) => (found(stream) === undefined ? nothing : [stream]);
    case 'stream_field_names':
      return (stream) => [...(found(stream)?.keys() ?? nothing)];
    case 'stream_field_values':
      return (stream) => {
        const value = found(stream)?.get(field ?? '');
        return value === undefined ? nothing : [value];
      };
    case 'field_names':
    case 'field_values':
      return undefined;
  }
}
