/** Stage `tenancy`: determines the tenant of a request, and runs the chain once per tenant if there are several. */
import { untilAborted, startInterval, startTimer } from '../../core/base/time/waits.js';
import type { Tenant } from '../../core/base/caller.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { apiError } from '../../core/base/errors/table.js';
import type { TenancyOptions } from '../../core/base/options.gen.js';
import { nanosPerSecond } from '../../core/base/time/index.js';
import { type Expr, type LogExpr, type Matcher, printMatcher, visit } from '../../core/logql/index.js';
import { descriptorOf } from '../../core/logql/stages/index.js';
import type { QueryOverTime } from '../../core/operations/descriptor.js';
import { operationOf, oversizedText } from '../../core/operations/index.js';
import {
  type AdmitAgain,
  type Answer,
  defineStage,
  type Exchange,
  type Host,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';
import { printByteSize } from '../../core/wire/api/params/byte-size.js';
import { type ApiRequest, type IndexStatsRequest, readAhead, Selector } from '../../core/wire/api/request.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';
import { lint } from './lint.js';
import { MapSource, resolveHeader } from './resolve.js';
import { answerSeveral, ownName } from './several.js';

/** Answers a request of the tenants; rows older than `oldestNs` must not be read. */
export type AnswerRequest = (exchange: Exchange, oldestNs: bigint | undefined) => Promise<Answer>;

/**
 * Applies the tenants' limits on the request as a whole: whether it is answered, how far back it may read, how much it may read, and how
 * long it may take. A request that will be rejected for its text alone is left to later stages, unparsed.
 */
export async function enforceLimits(
  exchange: Exchange,
  limits: TenantLimits,
  nowNs: bigint,
  ask: AnswerRequest,
): Promise<Answer> {
  const { op } = exchange.request;
  if (!limits.volumeEnabled && (op === 'volume' || op === 'volume_range'))
    throw apiError('volumeDisabled', {});
  const oldestNs = oldestOf(limits, nowNs);
  const operation = operationOf(exchange.request);
  return withinTime(exchange, limits.queryTimeoutMs, async (timed) => {
    const allowed = withinLength(timed.request, limits);
    if (oldestNs !== undefined || limits.maxQueryBytesRead > 0) await readAhead(allowed, timed.signal);
    const request = oldestNs === undefined ? allowed : operation.limits.within(allowed, oldestNs);
    if (request === undefined) return operation.empty(timed.request);
    if (limits.maxQueryBytesRead > 0)
      await checkBytesRead(request, limits.maxQueryBytesRead, (statistics) =>
        ask(timed.derive({ request: statistics, isFinal: false }), oldestNs),
      );
    return ask(request === timed.request ? timed : timed.derive({ request }), oldestNs);
  });
}

/** True if the limits depend neither on the time nor on stored data. */
export function isTimeless(limits: TenantLimits): boolean {
  return oldestOf(limits, 0n) === undefined && limits.maxQueryBytesRead === 0;
}

async function withinTime(
  exchange: Exchange,
  timeoutMs: number,
  work: (exchange: Exchange) => Promise<Answer>,
): Promise<Answer> {
  if (timeoutMs === 0 || !operationOf(exchange.request).limits.isTimed) return work(exchange);
  const controller = new AbortController();
  const timer = startTimer(() => controller.abort(apiError('queryTimeout', {})), timeoutMs);
  try {
    const timed = exchange.derive({ signal: controller.signal });
    return await untilAborted(work(timed), timed.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The oldest time that may be read: anything before the lookback or the retention counts as deleted. Undefined means unlimited. */
function oldestOf(limits: TenantLimits, nowNs: bigint): bigint | undefined {
  const { maxQueryLookbackNs, retentionPeriodNs } = limits;
  const bounds = [maxQueryLookbackNs, retentionPeriodNs].filter((ns) => ns > 0n);
  const [first, ...others] = bounds;
  if (first === undefined) return undefined;
  return nowNs - others.reduce((least, ns) => (ns < least ? ns : least), first);
}

/** Shortens the default range of a listing to the tenants' maximum. */
function withinLength(request: ApiRequest, { maxQueryLengthNs }: TenantLimits): ApiRequest {
  if (!('isOpenRange' in request) || !request.isOpenRange || maxQueryLengthNs === 0n) return request;
  const { startNs, endNs } = request.range;
  const allowedNs = endNs - maxQueryLengthNs;
  return startNs >= allowedNs ? request : { ...request, range: { startNs: allowedNs, endNs } };
}

/** Time for which Loki looks back for logs in a query without a window. */
const lookBackNs = 30n * nanosPerSecond;

/**
 * Rejects a query that would read more than `maxBytes`, according to the index statistics of each selector over the time it reads. As in
 * Loki, a log query without filters is not checked: it stops at its limit.
 * @param ask answers index statistics of the tenants
 * @throws ApiError `tooManyBytesRead`
 */
async function checkBytesRead(
  request: ApiRequest,
  maxBytes: number,
  ask: (request: IndexStatsRequest) => Promise<Answer>,
): Promise<void> {
  const read = operationOf(request).limits.bytesRead?.(request);
  if (read === undefined) return;
  const bytes = await Promise.all(
    statisticsOf(read).map(async (statistics) => bytesOf(await answered(ask(statistics)))),
  );
  const total = bytes.reduce((sum, part) => sum + part, 0);
  if (total > maxBytes)
    throw apiError('tooManyBytesRead', { read: printByteSize(total), limit: printByteSize(maxBytes) });
}

/** The statistics, if they were answered. As in Loki, statistics that are rejected for another reason do not count against the query. */
async function answered(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return undefined;
    throw error;
  }
}

function bytesOf(answer: Answer | undefined): number {
  return answer?.kind === 'index-stats' ? answer.bytes : 0;
}

function statisticsOf({ query, range: { startNs, endNs } }: QueryOverTime): readonly IndexStatsRequest[] {
  return readsOf(query.ast).map(({ matchers, intervalNs, offsetNs }) => ({
    op: 'index_stats',
    query: new Selector(
      `{${matchers.map((matcher) => printMatcher(matcher)).join(', ')}}`,
      'accept',
      matchers,
    ),
    range: { startNs: startNs - offsetNs - intervalNs, endNs: endNs - offsetNs },
  }));
}

interface Read {
  readonly matchers: readonly Matcher[];
  readonly intervalNs: bigint;
  readonly offsetNs: bigint;
}

function readsOf(expr: Expr): readonly Read[] {
  if (expr.kind === 'log')
    return hasFilter(expr)
      ? [{ matchers: expr.selector.matchers, intervalNs: lookBackNs, offsetNs: 0n }]
      : [];
  const reads: Read[] = [];
  visit(expr, (node) => {
    if (node.kind !== 'log-range') return;
    const { query, intervalNanoseconds, offsetNanoseconds } = node;
    const intervalNs = intervalNanoseconds === 0n ? lookBackNs : intervalNanoseconds;
    reads.push({ matchers: query.selector.matchers, intervalNs, offsetNs: offsetNanoseconds });
  });
  return reads;
}

function hasFilter({ stages }: LogExpr): boolean {
  return stages.some((stage) => descriptorOf(stage).isFilter(stage));
}

const metrics = {
  tenant_map_reloads_total: { type: 'counter', help: 'Reloads of the tenant map.', labels: ['outcome'] },
  tenant_map_entries: { type: 'gauge', help: 'Tenants in the map.', ofWorkers: 'max' },
  tenant_fanout_total: { type: 'counter', help: 'Multi-tenant requests.' },
} as const;

export default defineStage<TenancyOptions, never, 'tenant', typeof metrics>({
  name: 'tenancy',
  summary: 'Resolves X-Scope-OrgID; queries several tenants in parallel and merges their answers.',
  needs: [],
  gives: ['tenant'],
  rest: 'many',
  metrics,
  lint,
  create: (options, host) => new Tenancy(options, host),
});

class Tenancy implements Stage<never, 'tenant'> {
  readonly #options: TenancyOptions;
  readonly #host: Host<typeof metrics>;
  readonly #map: MapSource;
  #poller: NodeJS.Timeout | undefined;

  constructor(options: TenancyOptions, host: Host<typeof metrics>) {
    this.#options = options;
    this.#host = host;
    this.#map = new MapSource({
      inline: options.tenantMap,
      file: options.tenantMapFile === '' ? undefined : options.tenantMapFile,
      fromEnvironment: () => process.env['TENANT_MAP'],
    });
  }

  async start(): Promise<void> {
    await this.#map.poll();
    this.#host.meters.tenant_map_entries.set(this.#map.current.size, {});
    const { tenantMapFile, tenantMapReloadInterval } = this.#options;
    if (tenantMapFile === undefined || tenantMapReloadInterval === 0) return;
    this.#poller = startInterval(() => void this.#poll(), tenantMapReloadInterval);
    // Watching a file must not keep the process alive.
    this.#poller.unref();
  }

  async handle(exchange: Exchange, rest: Rest<'tenant'>): Promise<Answer> {
    const { request, trace } = exchange;
    const { limits, meters, naming } = this.#host;
    // All parts of a request keep the field mapping that was current when it started.
    const { mapping } = naming;
    const resolved = this.#resolve(exchange);
    const ids = (resolved.kind === 'one' ? [resolved.tenant] : resolved.tenants).map(({ id }) => id);
    trace.tenantId = ids.join('|');
    if (resolved.kind === 'many') meters.tenant_fanout_total.add(1, {});
    const ask: AnswerRequest = (asked, oldestNs) => {
      const bounded = (tenant: Tenant): Tenant =>
        oldestNs === undefined ? { ...tenant, mapping } : { ...tenant, mapping, oldestNs };
      if (resolved.kind === 'one') {
        const { tenant } = resolved;
        const named = ownName(asked.request, tenant);
        if (named !== undefined) return Promise.resolve(named);
        return rest(asked.derive<'tenant'>({ slots: { tenant: bounded(tenant) } }));
      }
      const [first, ...others] = resolved.tenants;
      return answerSeveral(asked, rest, [bounded(first), ...others.map(bounded)], limits);
    };
    // A text that will be rejected for its length is not parsed first.
    if (oversizedText(request, limits.process.maxQueryLengthBytes) !== undefined)
      return ask(exchange, undefined);
    return enforceLimits(exchange, limits.of(ids), this.#host.clock.nowNs(), ask);
  }

  /** Admits repeats while the tenant is the same, and no limit depends on the time or on stored data. */
  admitAgain(exchange: Exchange): AdmitAgain | undefined {
    const { limits, naming } = this.#host;
    const map = this.#map.current;
    const { mapping } = naming;
    const resolved = this.#resolve(exchange);
    if (resolved.kind !== 'one') return undefined;
    if (!isTimeless(limits.of([resolved.tenant.id]))) return undefined;
    return () => this.#map.current === map && naming.mapping === mapping;
  }

  #resolve({ caller, request }: Exchange): ReturnType<typeof resolveHeader> {
    const { multiTenantMaxFanout } = this.#host.limits.process;
    return resolveHeader(caller.orgId, request.op, this.#map.current, this.#options, multiTenantMaxFanout);
  }

  /** Reads the tenant map again on SIGHUP. On an error the old map stays, and the kernel logs the error. */
  async reload(): Promise<void> {
    await this.#take(() => this.#map.reload());
  }

  stop(): void {
    clearInterval(this.#poller);
  }

  async #poll(): Promise<void> {
    try {
      await this.#take(() => this.#map.poll());
    } catch (error) {
      this.#host.log.warn('cannot reload the tenant map, so the old one stays in use', { error });
    }
  }

  async #take(read: () => Promise<boolean>): Promise<void> {
    const { meters, log } = this.#host;
    try {
      if (!(await read())) return;
    } catch (error) {
      meters.tenant_map_reloads_total.add(1, { outcome: 'error' });
      throw error;
    }
    meters.tenant_map_reloads_total.add(1, { outcome: 'changed' });
    meters.tenant_map_entries.set(this.#map.current.size, {});
    log.info('tenant map reloaded', { 'tenant_map.entries': this.#map.current.size });
    // Cached answers may contain data that a tenant may no longer see.
    await this.#host.purge('answers');
  }
}
