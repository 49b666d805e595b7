import type { PipelineDraft } from '../pipeline/draft.js';
import { allOptions, findOption, isFilled, type FoundOption } from './option-lookup.js';

export interface PlannedListener {
  readonly option: FoundOption;
  readonly text: string;
}

/**
 * The addresses a pipeline will listen on: every option with `format: listen-address` that will be opened. The admin listener is left out
 * when it has no routes or they move to the main listener (docs/protocol/operation.md#listeners-and-admin-routes).
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

/** Whether any plugin of the pipeline defines routes on the admin listener. */
export function servesAdmin({ entries }: PipelineDraft): boolean {
  return entries.some(
    ({ isEnabled, load }) =>
      isEnabled &&
      load.kind === 'loaded' &&
      load.plugin.kind === 'endpoint' &&
      load.plugin.servesAdmin === true,
  );
}
