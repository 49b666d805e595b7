import type { Tenant } from '../../base/caller.js';
import type { HttpCall } from './contract.js';

/**
 * The tenant of a call to a route that is answered without the chain. Sends a request through the chain, so that a caller rejected by the
 * chain (no tenant, an unknown one, too many requests) is rejected here too.
 */
export async function askTenant(call: Pick<HttpCall, 'ask'>): Promise<Tenant> {
  const answer = await call.ask({ op: 'tenant' });
  if (answer.kind !== 'tenant') throw new Error(`the request for a tenant was answered with ${answer.kind}`);
  return answer.tenant;
}
