import type { Caller } from '../../base/caller.js';

/** The end user behind a datasource, and the source of that name (docs/protocol/tenants.md#who-is-asking). */
export interface EndUser {
  readonly id: string;
  /** Display name, if a proxy in front sent one. */
  readonly name?: string;
  readonly source: string;
}

const userHeaders = ['x-grafana-user', 'x-forwarded-user', 'x-webauth-user', 'x-auth-request-user'] as const;

/** The end user: a user header if proxy headers are trusted, else the tenant, the forwarded address or the remote address. */
export function endUserOf(caller: Caller, tenantId: string | undefined, trustsHeaders: boolean): EndUser {
  if (trustsHeaders) {
    for (const header of userHeaders) {
      const id = caller.headers.get(header);
      if (id !== undefined && id !== '') return { id, name: id, source: header };
    }
  }
  const tenant = tenantId ?? caller.orgId ?? '';
  if (tenant !== '') return { id: tenant, source: 'tenant' };
  const forwarded = trustsHeaders ? caller.headers.get('x-forwarded-for')?.split(',')[0]?.trim() : undefined;
  if (forwarded !== undefined && forwarded !== '') return { id: forwarded, source: 'forwarded_for' };
  return { id: caller.address, source: 'remote_addr' };
}

/** The principal of the datasource's credentials; never a secret, and not to be taken for the end user. */
export function authOf(caller: Caller): { readonly source: string; readonly principal?: string } | undefined {
  const header = caller.headers.get('authorization');
  if (header === undefined) return undefined;
  const basic = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(header)?.[1];
  if (basic !== undefined) {
    const user = Buffer.from(basic, 'base64').toString('utf8').split(':')[0] ?? '';
    return { source: 'basic', principal: user };
  }
  return { source: /^Bearer\s/i.test(header) ? 'bearer' : 'authorization' };
}
