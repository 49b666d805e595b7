/**
 * The only module that makes cache keys. A key contains everything an answer depends on: the operation, the owner of the data, the
 * permissions of the caller, and the parameters. Client input is escaped, so that two different requests never share a key.
 */
import { createHash } from 'node:crypto';
import type { Caller, Tenant } from '../base/caller.js';
import { dataOwner, escapeText, keyOf, type KeyParts, leftOut, scalar } from '../base/key-parts.js';
import { textOrder } from '../base/order.js';
import type { StaticDescription } from '../kernel/describe.js';
import type { LoadedPlugin } from '../kernel/pipeline/types.js';
import type { Plugin } from '../kernel/plugin/contract.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Host } from '../kernel/plugin/host.js';
import { operationOf } from '../operations/index.js';

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

/** The tenant as it begins a key. */
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

/** Headers and cookies of a client that are forwarded to the backend, so that answers may depend on them. */
export interface Forwarding {
  readonly forwardAuthorization: boolean;
  readonly forwardHeaders: readonly string[];
  /** Names, or `*` for all. */
  readonly forwardCookies: readonly string[];
}

/** Makes a text that is equal for headers with equal forwarded credentials; undefined when nothing is forwarded. */
export type Fingerprint = (headers: Caller['headers']) => string | undefined;

/**
 * Computes the fingerprint of forwarded credentials: the first 16 hex digits of a SHA-256 over the forwarded headers and cookies
 * (docs/protocol/operation.md#cache-keys). It is part of every cache key.
 */
export function createFingerprint(forwarding: Forwarding): Fingerprint {
  const names = new Set(forwarding.forwardHeaders.map((name) => name.toLowerCase()));
  if (forwarding.forwardAuthorization) names.add('authorization');
  const cookies = new Set(forwarding.forwardCookies);
  const sorted = [...names].sort();
  return (headers) => {
    const parts = sorted.flatMap((name) => pairOf(`h:${name}`, headers.get(name)));
    const cookieHeader = cookies.size === 0 ? undefined : headers.get('cookie');
    if (cookieHeader !== undefined) parts.push(...cookiePairs(cookieHeader, cookies));
    return parts.length === 0
      ? undefined
      : createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
  };
}

type Pair = readonly [name: string, value: string];

function pairOf(name: string, value: string | undefined): Pair[] {
  return value === undefined ? [] : [[name, value]];
}

function cookiePairs(header: string, wanted: ReadonlySet<string>): readonly Pair[] {
  const all = header.split(';').map((part): Pair => {
    const end = part.indexOf('=');
    // A malformed cookie has no name, so it always counts: a redundant cache entry is better than one shared wrongly.
    return end < 0 ? ['?', part.trim()] : [`c:${part.slice(0, end).trim()}`, part.slice(end + 1).trim()];
  });
  // The order of cookies does not matter, except between cookies of the same name: sort() is stable.
  return all
    .filter(([name]) => name === '?' || wanted.has('*') || wanted.has(name.slice(2)))
    .sort(([a], [b]) => textOrder(a, b));
}

/** Stages that only cache answers. */
const keepers: ReadonlySet<string> = new Set(['tier0', 'kept-patterns', 'label-index', 'peer-cache']);

/**
 * A fingerprint of the options that answers depend on beside their keys, as 16 hex digits: the options of the naming and limits, and of all
 * stages from the first one on that caches answers or plans queries. Changes that earlier stages make are visible in the request, which is
 * part of the key. A file may have been written by a process with other options: its entries count only for the same fingerprint.
 */
export function setupOf(
  { sections, stages }: Pick<StaticDescription, 'sections' | 'stages'>,
  loaded: readonly LoadedPlugin[],
): string {
  const deciding = sections.filter(({ name }) => name === 'names' || name === 'limits');
  const ids = new Set(decidingStages(loaded).map(({ id }) => id));
  const parts = [...deciding, ...stages.filter(({ id }) => ids.has(id))].map(({ name, options }) => [
    name,
    options.filter(({ isNeutral }) => !isNeutral).map(({ key, value }) => [key, value ?? null]),
  ]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

/** The stages whose options answers depend on beside their keys. */
export function decidingStages(stages: readonly LoadedPlugin[]): readonly LoadedPlugin[] {
  const first = stages.findIndex(({ plugin }) => isFirstToCount(plugin));
  return stages.slice(Math.max(0, first)).filter(({ plugin }) => !keepers.has(plugin.name));
}

/** Tells whether this stage and later ones leave the request unchanged, so that their options do not show in its cache key. */
function isFirstToCount(plugin: Plugin): boolean {
  return plugin.name === 'translate' || (plugin.kind === 'stage' && plugin.keepsAnswers === true);
}

/** Maximum number of tenants with a generation of their own. One more starts a new generation for all, which is always correct. */
const maxTenants = 10_000;

interface Purges {
  readonly count: number;
  /** Time of the last one. */
  readonly atMs: number;
}

const noPurge: Purges = { count: 0, atMs: -Infinity };

/** Purge counters as comparable texts: an answer requested before a purge of its tenant has another generation than requests after it. */
export class Generations {
  readonly #nowMs: () => number;
  #ofAll = noPurge;
  readonly #byTenant = new Map<string, Purges>();

  /** @param nowMs a monotonic clock; needed only for `purgedMs` */
  constructor(nowMs = () => 0) {
    this.#nowMs = nowMs;
  }

  /** The current generation of a key (core/cache/keys.ts). */
  of(key: string): string {
    return `${this.#ofAll.count}.${this.#ofTenant(tenantOf(key)).count}`;
  }

  /** Time of the last purge that affects the key; -Infinity if there was none. */
  purgedMs(key: string): number {
    return Math.max(this.#ofAll.atMs, this.#ofTenant(tenantOf(key)).atMs);
  }

  /** Records a purge of one tenant, or of all. */
  next(tenantId?: string): void {
    const tenant = tenantId === undefined ? undefined : tenantPart(tenantId);
    const atMs = this.#nowMs();
    if (tenant === undefined || (this.#byTenant.size >= maxTenants && !this.#byTenant.has(tenant))) {
      this.#ofAll = { count: this.#ofAll.count + 1, atMs };
      this.#byTenant.clear();
    } else this.#byTenant.set(tenant, { count: this.#ofTenant(tenant).count + 1, atMs });
  }

  #ofTenant(tenant: string): Purges {
    return this.#byTenant.get(tenant) ?? noPurge;
  }
}

/** A deletion that, as far as this process knows, the backend has not finished. */
export interface RunningDeletion {
  /** The id, equal in all replicas. */
  readonly id: string;
  /** Start in Unix milliseconds. */
  readonly begunMs: number;
  /** `X-Scope-OrgID` of the request. */
  readonly orgId: string | undefined;
  /** The account whose rows are deleted; undefined if unknown, which counts as every tenant. */
  readonly account: Pick<Tenant, 'accountId' | 'projectId'> | undefined;
  /** The backend's id of the task; undefined while the request is being sent, and if it is unknown. */
  readonly taskId: string | undefined;
}

/**
 * Deletions that the backend has not finished, by id. Until then its answers may contain rows that are about to be deleted, so caches
 * neither store nor serve answers of the tenants concerned.
 */
export class RunningDeletions extends Map<string, RunningDeletion> {
  /** Tells whether a running deletion may remove rows of this tenant. Accounts are compared, because several tenant ids may share one. */
  touch({ accountId, projectId }: Tenant): boolean {
    for (const { account } of this.values()) {
      if (account === undefined) return true;
      if (account.accountId === accountId && account.projectId === projectId) return true;
    }
    return false;
  }
}

/** The instance of this process. */
export function runningDeletions(host: Pick<Host, 'shared'>): RunningDeletions {
  return host.shared('running deletions', () => new RunningDeletions());
}
