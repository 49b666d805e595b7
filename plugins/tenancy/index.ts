/** Stage `tenancy`: determines the tenant of a request, and runs the chain once per tenant if there are several. */
import type { TenancyOptions } from '../../core/base/options.gen.js';
import {
  defineStage,
  type AdmitAgain,
  type Answer,
  type Exchange,
  type Host,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';
import type { Tenant } from '../../core/base/caller.js';
import { oversizedText } from '../../core/operations/index.js';
import { enforceLimits, isTimeless, type AnswerRequest } from './enforce-limits.js';
import { lint } from './lint.js';
import { MapSource } from './tenant-map.js';
import { resolveHeader } from './resolve.js';
import { answerSeveral, ownName } from './several.js';

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
    this.#poller = setInterval(() => void this.#poll(), tenantMapReloadInterval);
    // Watching a file must not keep the process alive.
    this.#poller.unref();
  }

  async handle(exchange: Exchange, rest: Rest<'tenant'>): Promise<Answer> {
    const { caller, request, trace } = exchange;
    const { limits, meters, naming } = this.#host;
    // All parts of a request keep the field mapping that was current when it started.
    const { mapping } = naming;
    const { multiTenantMaxFanout } = limits.process;
    const resolved = resolveHeader(
      caller.orgId,
      request.op,
      this.#map.current,
      this.#options,
      multiTenantMaxFanout,
    );
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
  admitAgain({ caller, request }: Exchange): AdmitAgain | undefined {
    const { limits, naming } = this.#host;
    const map = this.#map.current;
    const { mapping } = naming;
    const { multiTenantMaxFanout } = limits.process;
    const resolved = resolveHeader(caller.orgId, request.op, map, this.#options, multiTenantMaxFanout);
    if (resolved.kind !== 'one') return undefined;
    if (!isTimeless(limits.of([resolved.tenant.id]))) return undefined;
    return () => this.#map.current === map && naming.mapping === mapping;
  }

  /** Reads the tenant map again on SIGHUP. On an error the old map stays, and the kernel logs the error. */
  async reload(): Promise<void> {
    await this.#take(() => this.#map.reload());
  }

  stop(): Promise<void> {
    clearInterval(this.#poller);
    return Promise.resolve();
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
