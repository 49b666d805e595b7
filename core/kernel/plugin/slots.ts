import type { Place } from '../../base/admission/place.js';
import type { Tenant } from '../../base/caller.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import type { Binding } from '../../victoria/upstream/bound.js';
import type { Operation } from '../../wire/api/request.js';
import type { Answer } from '../../wire/answer/types.js';

/**
 * The facts that stages pass to later stages. A site adds its own by declaration merging: `declare module 'ref-proxy/plugin' { interface
 * Slots { region: string } }`. So does the engine with the plan (core/engine/plan/asked): the kernel knows no LogQL.
 */
export interface Slots {
  /** The tenant whose data is asked for (tenancy). */
  tenant: Tenant;
  /** The concurrency place that the request holds (guard). Optional for all stages: without a guard there are no places. */
  place: Place;
  /** Joins the backend with a second one that has old data (cold-route). Optional for all stages. */
  cold: ColdJoin;
  /** Answers listings of the backend from what is kept of them (peer-cache). Optional for all stages. */
  inventory: (upstream: Upstream) => Upstream;
  /** The backend, bound to this exchange (backend). */
  upstream: Upstream;
}
export type SlotName = keyof Slots;

/**
 * Answers a request over the backend and a cold one, as one upstream. `hot` is the backend, bound as `binding` says. `run` answers over an
 * upstream; it runs again, without the cold backend, where that has failed and answers may be partial.
 */
export type ColdJoin = (
  hot: Upstream,
  binding: Binding,
  op: Operation,
  run: (upstream: Upstream) => Promise<Answer>,
) => Promise<Answer>;
