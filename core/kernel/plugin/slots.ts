import type { Permit } from '../../base/admission/fair-queue.js';
import type { Tenant } from '../../base/caller.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import type { Binding } from '../../victoria/upstream/bound.js';
import type { Operation } from '../../wire/api/request.js';
import type { Answer } from '../../wire/answer/types.js';

/**
 * The facts that stages pass to later stages. A site adds its own by declaration merging: `declare module 'ref-proxy/plugin' { interface
 * Slots { region: string } }`. The engine does the same with the plan (core/engine/plan/checked-request), since the kernel does not know LogQL.
 */
export interface Slots {
  /** The tenant whose data is requested (provided by tenancy). */
  tenant: Tenant;
  /** The concurrency permit that the request holds (provided by guard). Optional for all stages: without a guard there are no permits. */
  permit: Permit;
  /** Joins the backend with a second one for old data (provided by cold-route). Optional for all stages. */
  cold: ColdJoin;
  /** Answers listings of the backend from a cache (provided by peer-cache). Optional for all stages. */
  inventory: (upstream: Upstream) => Upstream;
  /** The backend, bound to this exchange (provided by backend). */
  upstream: Upstream;
}
export type SlotName = keyof Slots;

/** Number of times that a stage may run the rest of the chain for one exchange; the kernel enforces it. */
export type RestUse = 'never' | 'once' | 'maybe' | 'many';

/**
 * Answers a request over the backend and a cold one, as one upstream. `hot` is the backend, bound as described by `binding`. `run` answers
 * over an upstream; it runs again, without the cold backend, if that has failed and answers may be partial.
 */
export type ColdJoin = (
  hot: Upstream,
  binding: Binding,
  op: Operation,
  run: (upstream: Upstream) => Promise<Answer>,
) => Promise<Answer>;
