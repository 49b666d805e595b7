/** Requests and response parsing of logcli. */
import { ClientFailure, json } from './check.js';
import { nanos } from './demo-data.js';
import type { Scene } from './feature.js';
import { readGrafanaAnswer, type GrafanaAnswer, type LogRow } from './grafana-reader.js';
import { goQuery, type Pairs } from './http.js';
import { lastHour, lineKey } from './oracle.js';

export const api = '/loki/api/v1';

/** Headers of every request of the program. */
export function headersOf(orgId: string): Readonly<Record<string, string>> {
  return { 'User-Agent': 'loki-logcli/3.6.0', 'X-Scope-OrgID': orgId };
}

/** A range as the program writes it. */
export function rangeOf({ startMs, endMs }: { readonly startMs: number; readonly endMs: number }): Pairs {
  return [
    ['start', String(nanos(startMs))],
    ['end', String(nanos(endMs))],
  ];
}

/** Requests JSON. */
export async function get({ http, orgId }: Scene, path: string, pairs: Pairs): Promise<unknown> {
  const reply = await http.send('GET', `${api}/${path}`, {
    query: goQuery(pairs),
    headers: headersOf(orgId),
  });
  if (reply.status !== 200) throw new ClientFailure(`${path}: ${reply.status} ${reply.text}`);
  return json(reply.text, path);
}

/** Sends a query and reads its result. */
export async function ask({ http, orgId }: Scene, path: string, pairs: Pairs): Promise<GrafanaAnswer> {
  const reply = await http.send('GET', `${api}/${path}`, {
    query: goQuery(pairs),
    headers: headersOf(orgId),
  });
  if (reply.status !== 200) throw new ClientFailure(`${path}: ${reply.status} ${reply.text}`);
  return readGrafanaAnswer(reply.text);
}

/** A query in pages. */
export interface Paging {
  readonly direction: 'BACKWARD' | 'FORWARD';
  readonly limit: number;
  readonly batch: number;
}

/**
 * The lines that logcli prints: each page starts at the timestamp where the last one ended, and lines of that timestamp are not printed
 * twice.
 */
export async function pages(scene: Scene, { direction, limit, batch }: Paging): Promise<readonly string[]> {
  const isForward = direction === 'FORWARD';
  const { startMs, endMs } = lastHour(scene.data);
  let [startNs, endNs] = [nanos(startMs), nanos(endMs)];
  const printed: string[] = [];
  let overlap: readonly LogRow[] = [];
  while (printed.length < limit) {
    const size = Math.min(batch, limit - printed.length + overlap.length);
    const pairs: Pairs = [
      ['query', '{namespace=~".+"}'],
      ['limit', String(size)],
      ['start', String(startNs)],
      ['end', String(endNs)],
      ['direction', direction],
    ];
    const { rows } = await ask(scene, 'query_range', pairs);
    const known = new Set(overlap.map(lineKey));
    const sorted = [...rows].sort(
      (a, b) =>
        Number(isForward ? a.timestampNs - b.timestampNs : b.timestampNs - a.timestampNs) ||
        (a.line < b.line ? -1 : 1),
    );
    const fresh = sorted.filter((row) => !known.has(lineKey(row)));
    const last = sorted.at(-1);
    if (fresh.length === 0 || last === undefined) break;
    printed.push(...fresh.map(lineKey));
    overlap = sorted.filter(({ timestampNs }) => timestampNs === last.timestampNs);
    if (isForward) startNs = last.timestampNs;
    else endNs = last.timestampNs + 1n;
  }
  return printed;
}
