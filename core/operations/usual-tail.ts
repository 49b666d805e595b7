import { OverrideStack } from '../base/override-stack.js';
import type { UpgradeHandler } from '../kernel/plugin/contract.js';
import type { Host } from '../kernel/plugin/host.js';

/** The tail that routes of other plugins open, whose origins it does not check; undefined if the pipeline has none. */
export function usualTail(host: Pick<Host, 'shared'>): OverrideStack<UpgradeHandler> {
  return host.shared('tail', () => new OverrideStack<UpgradeHandler>());
}
