import type { Caller, Tenant } from '../../base/caller.js';
import { basicAuthorization } from '../../base/url-credentials.js';
import type { LogsqlFilter } from '../logsql/ast.js';
import { everything, matcher, streamMatch } from '../logsql/build.js';

/** The parts of a client's request that are forwarded to the backend (docs/protocol/tenants.md#what-the-backend-is-told). */
export interface ForwardOptions {
  readonly basicAuth?: string;
  readonly forwardAuthorization: boolean;
  readonly forwardHeaders: readonly string[];
  /** Names, or `*` for all. */
  readonly forwardCookies: readonly string[];
  readonly trustProxyHeaders: boolean;
}

// Hop-by-hop headers, and headers that the tenant determines and a client must not set.
const neverForwarded: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'sec-websocket-protocol',
  'expect',
  'content-length',
  'content-type',
  'content-encoding',
  'accept-encoding',
  'accountid',
  'projectid',
]);
const userHeaders = ['x-grafana-user', 'x-forwarded-user', 'x-webauth-user', 'x-auth-request-user'];

/** The headers of a call that no client caused: the proxy's own credentials. */
export function ownHeaders({ basicAuth = '' }: Pick<ForwardOptions, 'basicAuth'>): Record<string, string> {
  if (basicAuth === '') return {};
  return { authorization: basicAuthorization(basicAuth) };
}

/** Headers that identify the proxy and its client. */
const plainHeaders: ReadonlySet<string> = new Set([
  'accountid',
  'projectid',
  'x-scope-orgid',
  'x-ref-proxy-client-id',
  'x-ref-proxy-client-source',
  'traceparent',
  'tracestate',
]);

/** Values of headers that only the backend may see: the credentials of the proxy or of a client. */
export function secretHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => (plainHeaders.has(name) ? [] : [value]));
}

/** The headers of a backend call on behalf of a caller and tenant. */
export function headersFor(caller: Caller, tenant: Tenant, options: ForwardOptions): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(ownHeaders(options))) headers.set(name, value);
  const names = options.forwardAuthorization
    ? ['authorization', ...options.forwardHeaders]
    : options.forwardHeaders;
  for (const name of names.map((each) => each.toLowerCase())) {
    const value = caller.headers.get(name);
    if (value !== undefined && !neverForwarded.has(name)) headers.set(name, value);
  }
  const cookies = chosenCookies(caller.headers.get('cookie') ?? '', options.forwardCookies);
  if (cookies !== '') headers.set('cookie', cookies);
  if (tenant.streamField === undefined) {
    headers.set('accountid', String(tenant.accountId));
    headers.set('projectid', String(tenant.projectId));
  }
  if (tenant.forwardHeader) headers.set('x-scope-orgid', tenant.id);
  if (options.trustProxyHeaders) {
    const identity = identityOf(caller, tenant);
    headers.set('x-ref-proxy-client-id', identity.id);
    headers.set('x-ref-proxy-client-source', identity.source);
  }
  return Object.fromEntries(headers);
}

/** The parameters that restrict a backend call to its tenant; a client cannot override them. */
export function tenantParameters(tenant: Tenant): readonly (readonly [string, string])[] {
  if (tenant.streamField === undefined) return [];
  return [['extra_stream_filters', JSON.stringify(Object.fromEntries([[tenant.streamField, tenant.id]]))]];
}

/** A filter for the tenant's rows, for calls that do not support such parameters. */
export function tenantScope(tenant: Tenant): LogsqlFilter {
  const { streamField, id } = tenant;
  return streamField === undefined ? everything : streamMatch(matcher(streamField, '=', id));
}

function chosenCookies(header: string, wanted: readonly string[]): string {
  if (header === '' || wanted.length === 0) return '';
  if (wanted.includes('*')) return header;
  const names = new Set(wanted);
  const kept = header.split(';').filter((pair) => names.has(pair.slice(0, pair.indexOf('=')).trim()));
  return kept.map((pair) => pair.trim()).join('; ');
}

function identityOf(caller: Caller, tenant: Tenant): { readonly id: string; readonly source: string } {
  for (const name of userHeaders) {
    const user = caller.headers.get(name);
    if (user !== undefined && user !== '') return { id: user, source: name };
  }
  if (caller.orgId !== undefined) return { id: tenant.id, source: 'tenant' };
  const forwarded = caller.headers.get('x-forwarded-for')?.split(',')[0]?.trim();
  if (forwarded !== undefined && forwarded !== '') return { id: forwarded, source: 'forwarded_for' };
  return { id: caller.address, source: 'remote_addr' };
}
