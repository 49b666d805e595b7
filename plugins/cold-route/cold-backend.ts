import type { ColdRouteOptions } from '../../core/base/options.gen.js';
import { authorizationOf } from '../../core/base/url-credentials.js';
import type { ColdJoin } from '../../core/kernel/plugin/slots.js';
import type { Host, Stage } from '../../core/plugin/index.js';
import { isColdFailure, namedCold } from '../../core/victoria/stores/named-cold.js';
import { simpleStore } from '../../core/victoria/stores/simple-store.js';
import { splitAt } from '../../core/victoria/stores/split.js';
import { twoStores } from '../../core/victoria/stores/two-stores.js';
import { BoundUpstream, type Binding } from '../../core/victoria/upstream/bound.js';
import { breakerGaugeValue } from '../../core/base/admission/circuit-breaker.js';
import { clientWithBreaker } from '../../core/victoria/upstream/client.js';
import type { Upstream } from '../../core/victoria/upstream/types.js';
import { unboundedMemory } from '../../core/base/memory/account.js';
import { warned } from '../../core/wire/answer/warned.js';
import { manifestReader } from './manifest.js';
import type { coldMetrics } from './metrics.js';

const nsPerMs = 1_000_000n;
const warning = 'partial response: the cold backend could not be read, so old data is missing';

/** Owns the connection to the cold backend, and joins it with the hot one for each request. */
export function coldBackend(
  url: string,
  options: ColdRouteOptions,
  host: Host<typeof coldMetrics>,
): Stage<never, 'cold'> {
  const { meters, log, clock } = host;
  const hasCredentials = authorizationOf(new URL(url)) !== undefined;
  const client = clientWithBreaker(url, options, {
    ...{ name: 'cold backend', clock, log },
    ...{ calls: meters.cold_calls, state: meters.cold_circuit_breaker_state },
  });
  const manifest = manifestReader(client, host, options.manifestRefresh, options.timeout);

  const join: ColdJoin = async (hot, binding, op, run) => {
    const both = joined(hot, binding);
    if (both === undefined) return run(hot);
    try {
      return await run(both);
    } catch (error) {
      const mayBePartial = options.partialResponses && op !== 'delete' && op !== 'tail';
      if (!mayBePartial || !isColdFailure(error)) throw error;
      const answer = warned(await run(hot), warning);
      if (answer === undefined) throw error;
      meters.cold_partial_answers_total.add(1, {});
      return answer;
    }
  };

  /** The binding for the cold backend: credentials in its URL replace those of the hot backend and of clients. */
  function own(binding: Binding): Binding {
    if (!hasCredentials) return binding;
    const { authorization, ...headers } = binding.headers;
    return authorization === undefined ? binding : { ...binding, headers };
  }

  /** Both backends as one upstream; undefined while the cold one is empty. */
  function joined(hot: Upstream, binding: Binding): Upstream | undefined {
    const { boundary, overlap } = options;
    const boundaryNs = clock.nowNs() - BigInt(Math.round(boundary)) * nsPerMs;
    const split = splitAt(boundaryNs, BigInt(Math.round(overlap)) * nsPerMs, manifest.contents());
    if (split === undefined) return undefined;
    const bound = new BoundUpstream(client, own(binding));
    const cold = namedCold(bound, binding.signal, (outcome) => meters.cold_calls_total.add(1, { outcome }));
    const memory = binding.memory ?? unboundedMemory();
    return twoStores({ hot, cold: simpleStore(cold, memory), memory }, split, (places) => {
      const [route = 'hot', ...others] = places;
      meters.cold_routed_total.add(1, { route: others.length > 0 ? 'both' : route });
    });
  }

  return {
    start(signal) {
      meters.cold_circuit_breaker_state.set(breakerGaugeValue.closed, {});
      return manifest.start(signal);
    },
    handle: (exchange, rest) => rest(exchange.derive<'cold'>({ slots: { cold: join } })),
    async stop() {
      manifest.stop();
      await client.close();
    },
  };
}
