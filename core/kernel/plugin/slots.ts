import type { Place } from '../../base/admission/place.js';
import type { Tenant } from '../../base/caller.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import type { ColdJoin } from './cold-join.js';

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
