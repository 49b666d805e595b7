import type { Tenant } from '../../base/caller.js';
import type { HttpCall } from './contract.js';

/**
 * The tenant of a call to a route that is answered from elsewhere. The question runs through the chain like any other, so whoever is
 * refused there (no tenant, an unknown one, too many requests) is refused here.
 */
export async function askTenant(call: Pick<HttpCall, 'ask'>): Promise<Tenant> {
  const answer = await call.ask({ op: 'tenant' });
  if (answer.kind !== 'tenant') throw new Error(`the question for a tenant was answered with ${answer.kind}`);
  return answer.tenant;
}
