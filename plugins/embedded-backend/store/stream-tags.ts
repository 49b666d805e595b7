import { quoteGo } from '../../../core/base/label-set.js';
import { xxHash64 } from './xxhash.js';

/** A tenant of the backend: the two uint32 numbers of the AccountID and ProjectID headers. */
export interface TenantId {
  readonly accountId: number;
  readonly projectId: number;
}

/** Stream fields: non-empty values by name, in byte order of the names. */
export type StreamTags = ReadonlyMap<string, string>;

/** Sorts stream fields by name; the last of several values is used, and empty values are dropped because they mean missing. */
export function makeTags(pairs: Iterable<readonly [string, string]>): StreamTags {
  const byName = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (value === '') byName.delete(name);
    else byName.set(name, value);
  }
  return new Map([...byName].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** The `_stream` text of stream fields, `{}` when there are none. */
export function tagsText(tags: StreamTags): string {
  return `{${[...tags].map(([name, value]) => `${name}=${quoteGo(value)}`).join(',')}}`;
}

/**
 * The 48 hex characters of `_stream_id`: tenant (16), then a hash of the fields (32). According to recorded ids, the real server's hash
 * consists of two xxHash64 sums over the counted and length-prefixed fields, the second with a suffix.
 */
export function streamId(tenant: TenantId, tags: StreamTags): string {
  const parts: Buffer[] = [uvarint(tags.size)];
  for (const text of [...tags].flat()) {
    const bytes = Buffer.from(text, 'utf8');
    parts.push(uvarint(bytes.length), bytes);
  }
  const first = xxHash64(Buffer.concat(parts));
  const second = xxHash64(Buffer.concat([...parts, Buffer.from('magic!')]));
  return hex32(tenant.accountId) + hex32(tenant.projectId) + hex64(first) + hex64(second);
}

function uvarint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return Buffer.from([...bytes, value]);
}

export function tenantKey(tenant: TenantId): string {
  return `${tenant.accountId}:${tenant.projectId}`;
}

function hex32(value: number): string {
  return value.toString(16).padStart(8, '0');
}

function hex64(value: bigint): string {
  return value.toString(16).padStart(16, '0');
}
