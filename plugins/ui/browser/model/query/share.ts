/** The forms in which a query is passed on: commands for a shell, and an address of Grafana. */
import type { QueryState } from '../query-state.js';
import type { NsRange } from '../time-range.js';
import type { LoadedPipeline, OptionDescription } from '../wire.js';

/** Where the same query can be asked without this page. */
export interface ShareTargets {
  /** Address of the Loki API; undefined if its port is chosen at the start. */
  readonly api: string | undefined;
  /** Address of Grafana and the uid of its data source; undefined if not configured. */
  readonly grafana: { readonly url: string; readonly uid: string } | undefined;
}

/** Reads the targets from the options of the pipeline; `page` is the address of the page. */
export function shareTargets({ endpoints, sections }: LoadedPipeline, page: URL): ShareTargets {
  const own = endpoints.find(({ name }) => name === 'ui')?.options ?? [];
  const server = sections.find(({ name }) => name === 'server')?.options ?? [];
  const url = valueOf(own, 'grafanaUrl');
  const uid = valueOf(own, 'grafanaDatasourceUid');
  const isConfigured = /^https?:\/\//.test(url) && uid !== '';
  return {
    api: apiOf(server, page),
    grafana: isConfigured ? { url: url.replace(/\/+$/, ''), uid } : undefined,
  };
}

function valueOf(options: readonly OptionDescription[], key: string): string {
  return options.find((option) => option.key === key)?.value ?? '';
}

/** With an admin token the page is on the main listener; without one the main listener has another port of the same host. */
function apiOf(server: readonly OptionDescription[], page: URL): string | undefined {
  if (server.some(({ key, isSet }) => key === 'adminAuthToken' && isSet)) return page.origin;
  const port = /:(\d{1,5})$/.exec(valueOf(server, 'listen'))?.[1];
  return port === undefined || port === '0' ? undefined : `${page.protocol}//${page.hostname}:${port}`;
}

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

type Shared = Pick<QueryState, 'query' | 'limit' | 'direction' | 'tenant'>;

/** Shell variable in commands that replaces the proxy's address where the page does not know it. */
const unknownApi = '"$LOKI_ADDR"';

/** The query as a command of curl. */
export function curlCommand(
  { query, limit, direction, tenant }: Shared,
  { startNs, endNs }: NsRange,
  api: string | undefined,
): string {
  const path = '/loki/api/v1/query_range';
  const params = [
    ['query', query],
    ['start', String(startNs)],
    ['end', String(endNs)],
    ['limit', String(limit)],
    ['direction', direction],
  ] as const;
  return [
    `curl -sSG ${api === undefined ? `${unknownApi}${path}` : shellWord(api + path)}`,
    ...(tenant === '' ? [] : [`-H ${shellWord(`X-Scope-OrgID: ${tenant}`)}`]),
    ...params.map(([name, value]) => `--data-urlencode ${shellWord(`${name}=${value}`)}`),
  ].join(' \\\n  ');
}

/** The query as a command of logcli. */
export function logcliCommand(
  { query, limit, direction, tenant }: Shared,
  { startNs, endNs }: NsRange,
  api: string | undefined,
): string {
  const iso = (ns: bigint): string => new Date(Number(ns / 1_000_000n)).toISOString();
  return [
    `logcli query --addr=${api === undefined ? unknownApi : shellWord(api)}`,
    ...(tenant === '' ? [] : [`--org-id=${shellWord(tenant)}`]),
    `--from=${iso(startNs)} --to=${iso(endNs)}`,
    `--limit=${limit}${direction === 'forward' ? ' --forward' : ''}`,
    `-- ${shellWord(query)}`,
  ].join(' \\\n  ');
}

/** The address of the query in Grafana's Explore. A range that ends now stays relative. */
export function exploreUrl(
  { query, limit, direction }: Shared,
  range: { readonly from: string; readonly to: string },
  { url, uid }: NonNullable<ShareTargets['grafana']>,
): string {
  const datasource = { type: 'loki', uid };
  const queries = [
    {
      refId: 'A',
      datasource,
      expr: query,
      queryType: 'range',
      editorMode: 'code',
      maxLines: limit,
      direction,
    },
  ];
  const panes = { refProxy: { datasource: uid, queries, range } };
  const params = new URLSearchParams({ schemaVersion: '1', panes: JSON.stringify(panes) });
  return `${url}/explore?${params.toString()}`;
}
