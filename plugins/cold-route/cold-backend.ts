import type { ColdRouteOptions } from '../../core/base/options.gen.js';
import { authorizationOf } from '../../core/base/url-credentials.js';
import type { ColdJoin } from '../../core/kernel/plugin/slots.js';
import type { Answer, Exchange, Host, Rest, Stage } from '../../core/plugin/index.js';
import { isColdFailure, namedCold } from '../../core/victoria/stores/named-cold.js';
import { simpleStore } from '../../core/victoria/stores/simple-store.js';
import { splitAt } from '../../core/victoria/stores/split.js';
import { twoStores } from '../../core/victoria/stores/two-stores.js';
import { BoundUpstream, type Binding } from '../../core/victoria/upstream/bound.js';
import { breakerGaugeValue } from '../../core/base/admission/circuit-breaker.js';
import { clientWithBreaker, type BackendClient } from '../../core/victoria/upstream/client.js';
import type { Upstream } from '../../core/victoria/upstream/types.js';
import { unboundedMemory } from '../../core/base/memory/account.js';
import { warned } from '../../core/wire/answer/warned.js';
import { ManifestReader } from './manifest.js';
import type { coldMetrics } from './metrics.js';

const nsPerMs = 1_000_000n;
const warning = 'partial response: the cold backend could not be read, so old data is missing';

/** Owns the connection to the cold backend, and joins it with the hot one for each request. */
export class ColdBackend implements Stage<never, 'cold'> {
  readonly #options: ColdRouteOptions;
  readonly #host: Host<typeof coldMetrics>;
  readonly #client: BackendClient;
  readonly #manifest: ManifestReader;
  readonly #hasCredentials: boolean;

  constructor(url: string, options: ColdRouteOptions, host: Host<typeof coldMetrics>) {
    this.#options = options;
    this.#host = host;
    this.#hasCredentials = authorizationOf(new URL(url)) !== undefined;
    const { meters, log, clock } = host;
    this.#client = clientWithBreaker(url, options, {
      ...{ name: 'cold backend', clock, log },
      ...{ calls: meters.cold_calls, state: meters.cold_circuit_breaker_state },
    });
    this.#manifest = new ManifestReader(this.#client, host, options.manifestRefresh, options.timeout);
  }

  start(signal: AbortSignal): Promise<void> {
    this.#host.meters.cold_circuit_breaker_state.set(breakerGaugeValue.closed, {});
    return this.#manifest.start(signal);
  }

  handle(exchange: Exchange, rest: Rest<'cold'>): Promise<Answer> {
    return rest(exchange.derive<'cold'>({ slots: { cold: this.#join } }));
  }

  async stop(): Promise<void> {
    this.#manifest.stop();
    await this.#client.close();
  }

  readonly #join: ColdJoin = async (hot, binding, op, run) => {
    const joined = this.#joined(hot, binding);
    if (joined === undefined) return run(hot);
    try {
      return await run(joined);
    } catch (error) {
      const mayBePartial = this.#options.partialResponses && op !== 'delete' && op !== 'tail';
      if (!mayBePartial || !isColdFailure(error)) throw error;
      const answer = warned(await run(hot), warning);
      if (answer === undefined) throw error;
      this.#host.meters.cold_partial_answers_total.add(1, {});
      return answer;
    }
  };

  /** The binding for the cold backend: credentials in its URL replace those of the hot backend and of clients. */
  #own(binding: Binding): Binding {
    if (!this.#hasCredentials) return binding;
    const { authorization, ...headers } = binding.headers;
    return authorization === undefined ? binding : { ...binding, headers };
  }

  /** Both backends as one upstream; undefined while the cold one is empty. */
  #joined(hot: Upstream, binding: Binding): Upstream | undefined {
    const { meters, clock } = this.#host;
    const { boundary, overlap } = this.#options;
    const boundaryNs = clock.nowNs() - BigInt(Math.round(boundary)) * nsPerMs;
    const split = splitAt(boundaryNs, BigInt(Math.round(overlap)) * nsPerMs, this.#manifest.contents);
    if (split === undefined) return undefined;
    const bound = new BoundUpstream(this.#client, this.#own(binding));
    const cold = namedCold(bound, binding.signal, (outcome) => meters.cold_calls_total.add(1, { outcome }));
    const memory = binding.memory ?? unboundedMemory();
    return twoStores({ hot, cold: simpleStore(cold, memory), memory }, split, (places) => {
      const [route = 'hot', ...others] = places;
      meters.cold_routed_total.add(1, { route: others.length > 0 ? 'both' : route });
    });
  }
}
