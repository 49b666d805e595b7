import { textOrder } from '../../base/order.js';
import type { PipelineDraft, DraftOptions } from '../pipeline/draft.js';
import type { Finding } from '../pipeline/types.js';
import type { Complaint, Rule, Surroundings, Tier } from './rule.js';
import { rules } from './rules/index.js';
import type { LintFile } from '../plugin/contract.js';
import { chainOf } from './slot-order.js';
import { findOption, optionsOf } from './option-lookup.js';

interface CheckDraftOptions {
  readonly tiers: readonly Tier[];
  /** Needed for the environment tier. Without that tier, its rules that prevent a start still use it. */
  readonly surroundings?: Surroundings | undefined;
}

/** All findings of the requested tiers about one pipeline, sorted. The environment tier only runs if the text has no errors. */
export async function checkDraft(
  draft: PipelineDraft,
  options: CheckDraftOptions,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const rule of rules) {
    if (rule.tier === 'environment' || !options.tiers.includes(rule.tier) || !applies(rule, draft)) continue;
    findings.push(...rule.check(draft).map((complaint) => toFinding(rule, complaint)));
  }
  if (options.tiers.includes('meaning')) findings.push(...lintFindings(draft));
  const isSound = !findings.some((finding) => finding.severity === 'error');
  if (isSound && options.surroundings !== undefined) {
    const asksAll = options.tiers.includes('environment');
    for (const rule of rules) {
      if (rule.tier !== 'environment' || !applies(rule, draft)) continue;
      if (!asksAll && rule.refusesStart !== true) continue;
      const complaints = await rule.check(draft, options.surroundings);
      findings.push(...complaints.map((complaint) => toFinding(rule, complaint)));
    }
  }
  return sortFindings(findings);
}

function applies(rule: Rule, draft: PipelineDraft): boolean {
  return !(rule.isAboutWhole === true && draft.source.isFragment);
}

function toFinding(rule: Pick<Finding, 'severity'> & { readonly id: string }, complaint: Complaint): Finding {
  return { ...complaint, rule: rule.id, severity: rule.severity };
}

/** Sorts by file, line, column, rule and message, in byte order, so that the result does not depend on the machine's locale. */
export function sortFindings(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort(
    (a, b) =>
      textOrder(a.at.file, b.at.file) ||
      a.at.line - b.at.line ||
      a.at.column - b.at.column ||
      textOrder(a.rule, b.rule) ||
      textOrder(a.message, b.message),
  );
}

/** The findings of the rules about options that the enabled plugins of a file provide (`lint` of the contract). */
function lintFindings(draft: PipelineDraft): readonly Finding[] {
  return draft.entries.flatMap((entry) => {
    const { isEnabled, load, options, use, useAt } = entry;
    if (!isEnabled || load.kind !== 'loaded' || options === undefined) return [];
    const { name, lint = [] } = load.plugin;
    const file = lintFile(draft, options);
    return lint.flatMap((rule): readonly Finding[] => {
      const id = draft.schemas.has(use) ? rule.id : `${name}/${rule.id}`;
      try {
        const found = rule.check(file);
        return found.map(({ at = useAt, ...complaint }) =>
          toFinding({ id, severity: rule.severity }, { at, ...complaint }),
        );
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
      const option = optionsOf(owner).find((each) => each.key === key);
      if (option === undefined) throw new Error(`the schema has no option "${key}"`);
      return option;
    },
    flag: (name) => findOption(draft, name),
    stages: chainOf(draft).stages.map(({ entry, plugin }) => ({ id: entry.id, plugin: plugin.name })),
  };
}
