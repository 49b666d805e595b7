import type { PipelineDraft } from '../pipeline/draft.js';
import { allOptions, findOption, isFilled, type FoundOption } from './option-lookup.js';

/** An address that the process will listen on. */
export interface PlannedListener {
  readonly option: FoundOption;
  readonly text: string;
}

/**
 * The listeners of a pipeline: everything whose schema says `format: listen-address` and that will be opened. The admin listener is
 * left out when it has no routes to serve, or they move to the main one (docs/protocol/operation.md#listeners-and-admin-routes).
 */
export function listeners(draft: PipelineDraft): readonly PlannedListener[] {
  const hasAdmin = hasAdminListener(draft);
  return allOptions(draft).flatMap((option) => {
    if (option.definition.schema.format !== 'listen-address' || !isFilled(option)) return [];
    if (option.definition.flag === 'admin-listen' && !hasAdmin) return [];
    return [{ option, text: option.value }];
  });
}

function hasAdminListener(draft: PipelineDraft): boolean {
  return !isFilled(findOption(draft, 'server.admin-auth-token')) && servesAdmin(draft);
}

/** Whether any of its plugins brings routes of the admin listener along. */
export function servesAdmin({ entries }: PipelineDraft): boolean {
  return entries.some(
    ({ isEnabled, load }) =>
      isEnabled &&
      load.kind === 'loaded' &&
      load.plugin.kind === 'endpoint' &&
      load.plugin.servesAdmin === true,
  );
}
