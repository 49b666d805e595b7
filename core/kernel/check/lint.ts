/** Rules of plugins about their options (`lint` of the contract). */
import type { DraftOptions, PipelineDraft } from '../pipeline/draft.js';
import { placeOf } from '../pipeline/located.js';
import type { Finding } from '../pipeline/types.js';
import type { LintFile, LintOption } from '../plugin/contract.js';
import { chainOf } from './slot-order.js';
import { findOption, optionsOf, waysToSet, type FoundOption } from './option-lookup.js';

/** The findings of the rules that the enabled plugins of a file provide. */
export function lintFindings(draft: PipelineDraft): readonly Finding[] {
  return draft.entries.flatMap((entry) => {
    const { isEnabled, load, options, use, useAt } = entry;
    if (!isEnabled || load.kind !== 'loaded' || options === undefined) return [];
    const { name, lint = [] } = load.plugin;
    const file = lintFile(draft, options);
    return lint.flatMap((rule): readonly Finding[] => {
      const id = draft.schemas.has(use) ? rule.id : `${name}/${rule.id}`;
      try {
        const found = rule.check(file);
        return found.map(({ at = useAt, message, fix }) => ({
          ...{ at, rule: id, severity: rule.severity, message },
          ...(fix === undefined ? {} : { fix }),
        }));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const message = `the rule "${rule.id}" of plugin "${use}" failed: ${reason}`;
        return [{ at: useAt, rule: id, severity: 'error', message }];
      }
    });
  });
}

function lintFile(draft: PipelineDraft, owner: DraftOptions): LintFile {
  return {
    own(key) {
      const option = optionsOf(owner).find(({ definition }) => definition.key === key);
      if (option === undefined) throw new Error(`the schema has no option "${key}"`);
      return lintOption(option);
    },
    flag(name) {
      const option = findOption(draft, name);
      return option === undefined ? undefined : lintOption(option);
    },
    stages: chainOf(draft).stages.map(({ entry, plugin }) => ({ id: entry.id, plugin: plugin.name })),
  };
}

function lintOption({ at, definition, name, node, origin, value }: FoundOption): LintOption {
  return {
    key: definition.key,
    ...{ value, name, at },
    text: typeof value === 'string' ? value : '',
    isGiven: origin.kind !== 'default',
    ways: waysToSet(definition),
    within: (path) => (node === undefined ? at : placeOf(node, path).value),
  };
}
