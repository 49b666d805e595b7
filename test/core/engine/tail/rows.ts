import { LabelSet } from '../../../../core/base/label-set.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { type LogRow, RowReader } from '../../../../core/victoria/names/row-reader.js';
import { formatTime } from '../../../../core/victoria/logsql/literals.js';
import type { LiveEntry } from '../../../../core/wire/answer/types.js';
import { namesOptions, type WrittenRow } from '../../../../core/testing/index.js';

export const reader = new RowReader(new Naming(namesOptions()));

/** A row of the stream {app="a"}, as the backend sends it. */
export function backendRow(ns: bigint, line: string, app = 'a'): WrittenRow {
  return { _time: formatTime(ns), _stream: `{app="${app}"}`, _stream_id: app, _msg: line, app };
}

/** The same row as the reader returns it. */
export function rowOf(ns: bigint, line: string, app = 'a'): LogRow {
  return reader.read(backendRow(ns, line, app));
}

/** An entry of a tail without metadata. */
export function entryOf(ns: bigint, line = `line ${ns}`): LiveEntry {
  const entry = { timestampNs: ns, line, structuredMetadata: LabelSet.empty, parsed: LabelSet.empty };
  return { labels: LabelSet.from([['app', 'a']]), entry };
}
