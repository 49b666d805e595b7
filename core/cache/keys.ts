/**
 * The only place that makes cache keys. A key contains everything an answer depends on: the operation, the owner of the data, what the
 * caller may see, and the parameters. Client input is escaped, so that two different requests never share a key.
 */
import { dataOwner } from '../base/keys/data-owner.js';
import { escapeText } from '../base/keys/escape.js';
import { keyOf, leftOut, scalar, type KeyParts } from '../base/keys/parts.js';
import type { Caller } from '../base/caller.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import { operationOf } from '../operations/index.js';
import { createFingerprint, type Forwarding } from './fingerprint.js';

/** The key of an exchange's answer, `<tenant>:<op>:<owner>:<caller>:<parameters>`; undefined when the answer is neither cached nor shared. */
export type CacheKeys = (exchange: Exchange<'tenant'>) => string | undefined;

export function createCacheKeys(forwarding: Forwarding): CacheKeys {
  const callers = callerKey(forwarding);
  return ({ request, caller, slots }) => {
    const { cache } = operationOf(request);
    if (cache === 'never') return undefined;
    return `${tenantPart(slots.tenant.id)}:${request.op}:${dataOwner(slots.tenant)}:${keyOf(callers, caller)}:${keyOf(cache.key, request)}`;
  };
}

/** A tenant as keys begin with it. */
export function tenantPart(id: string): string {
  return escapeText(id);
}

export function tenantOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

export function callerKey(forwarding: Forwarding): KeyParts<Caller> {
  return {
    headers: createFingerprint(forwarding),
    categorizeLabels: scalar,
    isDrilldown: scalar,
    isBackground: leftOut('says when it may run, not what it gets'),
    yields: leftOut('says when it may run, not what it gets'),
    method: leftOut('all methods are answered alike'),
    address: leftOut('says who is served first, not what'),
    orgId: leftOut('the tenant says what it was resolved to'),
  };
}
