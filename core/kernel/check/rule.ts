import type { PipelineDraft } from '../pipeline/draft.js';
import type { Complaint } from '../pipeline/located.js';
import type { LintRule } from '../plugin/contract.js';

export type { Complaint } from '../pipeline/located.js';

/** Subject of a rule: the text alone, its meaning, or the machine it would run on. */
export type Tier = 'structure' | 'meaning' | 'environment';

/** Checks of the machine, for rules of the environment tier. */
export interface Surroundings {
  /** Resolves to undefined if the path is accessible for this use, otherwise to the reason. */
  readonly canRead: (path: string) => Promise<string | undefined>;
  readonly canWrite: (path: string) => Promise<string | undefined>;
  /** Resolves to undefined if the address is free, otherwise to the reason. */
  readonly canListen: (address: string) => Promise<string | undefined>;
  /** Resolves to undefined if GET on the URL answers 2xx, otherwise to the reason. */
  readonly canReach: (url: string) => Promise<string | undefined>;
}

interface RuleMeta extends Omit<LintRule, 'id' | 'check'> {
  readonly id: `R${number}`;
  /** True if the rule concerns the file as a whole: it then skips fragments in Markdown. */
  readonly isAboutWhole?: boolean;
}

interface TextRule extends RuleMeta {
  readonly tier: 'structure' | 'meaning';
  check(draft: PipelineDraft): readonly Complaint[];
}
interface EnvironmentRule extends RuleMeta {
  readonly tier: 'environment';
  /** True if `serve` also applies the rule, because the process would start but fail later. */
  readonly refusesStart?: boolean;
  check(draft: PipelineDraft, surroundings: Surroundings): Promise<readonly Complaint[]>;
}
export type Rule = TextRule | EnvironmentRule;

/** A rule as it is written down; it reports errors unless it says otherwise. */
type Written<Kind extends Rule> = Omit<Kind, 'tier' | 'severity'> & Partial<Pick<Kind, 'severity'>>;

export function textRules(tier: TextRule['tier'], rules: readonly Written<TextRule>[]): readonly Rule[] {
  return rules.map((rule) => ({ severity: 'error', ...rule, tier }));
}

export function environmentRules(rules: readonly Written<EnvironmentRule>[]): readonly Rule[] {
  return rules.map((rule) => ({ severity: 'error', ...rule, tier: 'environment' }));
}
