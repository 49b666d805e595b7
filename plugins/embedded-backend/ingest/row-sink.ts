import { ofKey } from '../../../core/base/memory/byte-lru.js';
import { MAX_NS, MIN_NS } from '../http/time-arg.js';
import { makeTags, type TenantId } from '../store/stream-tags.js';
import type { Store } from '../store/store.js';
import type { Stream } from '../store/stream.js';

/** The message of a row without one: the default of `-defaultMsgValue`. */
export const DEFAULT_MESSAGE =
  'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';

const MAX_FIELDS = 1000;
const MAX_NAME_BYTES = 128;
const MAX_ROW_BYTES = 2 * 1024 * 1024;

/** Counts of one push request. */
export interface IngestCounts {
  accepted: number;
  /** Number of rows dropped without an error because they exceeded a protocol limit, as on the real server. */
  dropped: number;
}

/** Receives accepted rows, such as a journal. */
export type RowListener = (
  tenant: TenantId,
  stream: Stream,
  timeNs: bigint,
  names: string[],
  values: string[],
) => void;

/** Adds flattened fields to the store for one request: separates stream fields, applies defaults and limits. */
export class RowSink {
  readonly counts: IngestCounts = { accepted: 0, dropped: 0 };
  readonly #store: Store;
  readonly #tenant: TenantId;
  readonly #listener: RowListener | undefined;
  readonly #streams = new Map<string, Stream>();

  constructor(store: Store, tenant: TenantId, listener?: RowListener) {
    this.#store = store;
    this.#tenant = tenant;
    this.#listener = listener;
  }

  /** The stream of these fields; looked up once per distinct list in the request. */
  streamOf(pairs: readonly (readonly [string, string])[]): Stream {
    let key = '';
    for (const [name, value] of pairs) key += `${name.length}:${name}${value.length}:${value}`;
    return ofKey(this.#streams, key, () => this.#store.stream(this.#tenant, makeTags(pairs)));
  }

  /** Adds a row of `stream`; false if the store is full. `fields` must not contain `_time`. */
  add(stream: Stream, timeNs: bigint, fields: ReadonlyMap<string, string>): boolean {
    const names: string[] = [];
    const values: string[] = [];
    let size = 0;
    let tooLong = false;
    const message = fields.get('_msg') ?? '';
    names.push('_msg');
    values.push(message === '' ? DEFAULT_MESSAGE : message);
    for (const [name, value] of fields) {
      size += name.length + value.length;
      // A row may override a field of its stream.
      if (value === '' || name === '_msg' || stream.tags.get(name) === value || isReserved(name)) continue;
      tooLong ||= name.length > MAX_NAME_BYTES;
      names.push(name);
      values.push(value);
    }
    const outOfTime = timeNs < MIN_NS || timeNs > MAX_NS;
    if (outOfTime || tooLong || size > MAX_ROW_BYTES || names.length + stream.tags.size > MAX_FIELDS) {
      this.counts.dropped++;
      return true;
    }
    if (!this.#store.push(stream, { timeNs, names, values })) return false;
    this.counts.accepted++;
    this.#listener?.(this.#tenant, stream, timeNs, names, values);
    return true;
  }
}

function isReserved(name: string): boolean {
  return name === '_time' || name === '_stream' || name === '_stream_id';
}
