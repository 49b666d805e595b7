import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { query } from '../../../victoria/logsql/build.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import { Pacer } from '../../../base/pace/pacer.js';
import { atPace, type Steps } from '../../../base/pace/steps.js';
import { isOwnColumn, type Upstream, type BackendValue } from '../../../victoria/upstream/types.js';

/** Streams handled per step. */
const stepStreams = 100;

/** The streams of a selection and the names of all fields that their rows may have. */
export interface StreamListing {
  /** By `_stream` text. */
  readonly streams: ReadonlyMap<string, StreamIdentity>;
  readonly fields: readonly string[];
  /** Streams and row counts as the backend lists them. */
  readonly listed: readonly BackendValue[];
}

/** Requests both in parallel; listings are cheap for a selection without line filters. */
export async function listSelection(
  upstream: Upstream,
  reader: RowReader,
  selection: LogsqlFilter,
  range: TimeRange,
  signal: AbortSignal,
): Promise<StreamListing> {
  const asked = { query: query(selection), range };
  const [streams, fields] = await Promise.all([
    upstream.list({ listing: 'streams', ...asked }),
    upstream.list({ listing: 'field_names', ...asked }),
  ]);
  return {
    streams: await atPace(readStreams(streams, reader), new Pacer(signal)),
    listed: streams,
    fields: fields.map(({ value }) => value).filter((name) => !isOwnColumn(name)),
  };
}

/** The identities of the listed streams, by `_stream` text. */
export function* readStreams(
  listed: readonly BackendValue[],
  reader: RowReader,
): Steps<ReadonlyMap<string, StreamIdentity>> {
  const streams = new Map<string, StreamIdentity>();
  for (const { value } of listed) {
    streams.set(value, reader.stream(value));
    if (streams.size % stepStreams === 0) yield;
  }
  return streams;
}

/** Backend streams that have the same labels as another one, and so are a single stream to a client. */
export function* streamsWithSameLabels(
  streams: ReadonlyMap<string, StreamIdentity>,
): Steps<ReadonlySet<string>> {
  const byKey = new Map<string, string[]>();
  for (const [text, { labels }] of streams) {
    const same = byKey.get(labels.key);
    if (same === undefined) byKey.set(labels.key, [text]);
    else same.push(text);
    if (byKey.size % stepStreams === 0) yield;
  }
  return new Set([...byKey.values()].filter(({ length }) => length > 1).flat());
}

/** Whether both have the same streams and fields, whatever the row counts. */
export function isSame(a: StreamListing, b: StreamListing): boolean {
  return (
    a.streams.size === b.streams.size &&
    a.fields.length === b.fields.length &&
    a.fields.every((name, index) => name === b.fields[index]) &&
    [...a.streams.keys()].every((text) => b.streams.has(text))
  );
}

/** The approximate size of a listing. */
export function listingBytes({ streams, fields }: StreamListing): number {
  let bytes = 200;
  for (const text of streams.keys()) bytes += 2 * text.length + 150;
  for (const name of fields) bytes += 2 * name.length + 20;
  return bytes;
}
