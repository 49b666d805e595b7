import type { Place } from '../../base/admission/place.js';
import type { Tenant } from '../../base/caller.js';
import type { Upstream } from '../../victoria/upstream/types.js';

/**
 * The facts that stages hand to the stages behind them. A site adds its own by declaration merging:
 * `declare module 'ref-proxy/plugin' { interface Slots { region: string } }`. So does the engine with the plan
 * (core/engine/plan/types): the kernel knows no LogQL.
 */
export interface Slots {
  /** Whose data (tenancy). */
  tenant: Tenant;
  /** The place that the request holds here (guard). Optional to all: without a guard nobody counts places. */
  place: Place;
  /** The backend, bound to this exchange (backend). */
  upstream: Upstream;
}
export type SlotName = keyof Slots;
