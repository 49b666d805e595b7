import { createHash } from 'node:crypto';
import { dataOwner } from '../../core/base/keys/data-owner.js';
import { inOrder, keyOf, leftOut, scalar, type KeyParts } from '../../core/base/keys/parts.js';
import { createFingerprint, type Forwarding } from '../../core/cache/fingerprint.js';
import { tenantPart } from '../../core/cache/keys.js';
import { printSelector } from '../../core/logql/index.js';
import type { Exchange } from '../../core/plugin/index.js';
import type { PatternsRequest } from '../../core/wire/api/discovery-request.js';

export interface PatternKey {
  readonly text: string;
  /** The answer may depend on what the client sent to the backend: it is neither written to a file nor shared. */
  readonly isPrivate: boolean;
}

/** Throws LogqlError for a selector that cannot be parsed. */
export type PatternKeys = (exchange: Exchange<'tenant'>, request: PatternsRequest) => PatternKey;

/** What a client asks for. */
const asked = { query: scalar, start: scalar, end: scalar, step: scalar };
/** What answers depend on beside that, and what hardly differs between them. */
const usual: KeyParts<Omit<PatternsRequest, 'op'>> = {
  query: leftOut('asked for'),
  range: leftOut('asked for'),
  stepNs: leftOut('asked for'),
  limit: scalar,
  search: { maxRows: scalar, secondPassMaxRows: scalar, secondPassMaxWindows: scalar, custom: inOrder },
};

/**
 * `patterns:<tenant>:query=...&start=<ns>&end=<ns>&step=<ns>&usual=<hash>&setup=<setup>[:auth:<fingerprint>]`
 * @param setup of core/cache/setup.ts
 */
export function patternKeys(forwarding: Forwarding, setup: string): PatternKeys {
  const fingerprintOf = createFingerprint(forwarding);
  return ({ caller, slots }, request) => {
    const { startNs: start, endNs: end } = request.range;
    const query = printSelector(request.query);
    const question = keyOf(asked, { query, start, end, step: request.stepNs });
    const rest = hashOf(`${dataOwner(slots.tenant)} ${keyOf(usual, request)}`);
    const fingerprint = fingerprintOf(caller.headers);
    const text = `patterns:${tenantPart(slots.tenant.id)}:${question}&usual=${rest}${setupPart(setup)}`;
    return fingerprint === undefined
      ? { text, isPrivate: false }
      : { text: `${text}:auth:${fingerprint}`, isPrivate: true };
  };
}

/** Whether a key that may come from a file or a peer is one that this process asks for. */
export function isOfSetup(key: string, setup: string): boolean {
  return key.startsWith('patterns:') && key.endsWith(setupPart(setup));
}

/** The beginning of all keys of a tenant. */
export function keysOfTenant(tenantId: string): string {
  return `patterns:${tenantPart(tenantId)}:`;
}

function setupPart(setup: string): string {
  return `&setup=${setup}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
