import { ApiError, defineStage } from 'ref-proxy/plugin';

export interface Options {
  readonly maxPerTenant: number;
}

const laneFull = {
  status: 429,
  when: 'a tenant has maxPerTenant requests in flight',
  text: 'too many outstanding requests of this tenant',
  headers: { 'Retry-After': '1' },
};

const metrics = {
  tenant_lane_rejections_total: {
    type: 'counter',
    help: 'Requests refused because their tenant had too many in flight.',
  },
} as const;

/** Replaces guard: every tenant gets its own lane, so one tenant cannot crowd out the others. */
export default defineStage<Options, 'tenant', never, typeof metrics>({
  name: 'tenant-lanes',
  summary: 'Bounds the requests in flight of every tenant.',
  schema: {
    type: 'object',
    properties: {
      maxPerTenant: {
        type: 'integer',
        minimum: 1,
        default: 10,
        description: 'Requests in flight of one tenant.',
      },
    },
    additionalProperties: false,
  },
  needs: ['tenant'],
  gives: [],
  rest: 'maybe',
  metrics,
  create(options, host) {
    /** Requests in flight by tenant. A tenant without requests has no entry, so the map cannot grow without bound. */
    const inFlight = new Map<string, number>();

    return {
      async handle(exchange, rest) {
        const { id } = exchange.slots.tenant;
        const taken = inFlight.get(id) ?? 0;
        if (taken >= options.maxPerTenant) {
          host.meters.tenant_lane_rejections_total.add(1, {});
          throw new ApiError(laneFull, laneFull.text);
        }
        inFlight.set(id, taken + 1);
        try {
          return await rest(exchange);
        } finally {
          leave(id);
        }
      },
    };

    function leave(id: string): void {
      const left = (inFlight.get(id) ?? 1) - 1;
      if (left === 0) inFlight.delete(id);
      else inFlight.set(id, left);
    }
  },
});
