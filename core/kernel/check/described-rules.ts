import { readBuiltInLint } from '../pipeline/load-plugin.js';
import type { Tier } from './rule.js';
import { rules } from './rules/index.js';
import type { LintRule } from '../plugin/contract.js';

/** A rule of the checker; docs/checker.md explains each. */
export interface RuleDescription extends Omit<LintRule, 'check'> {
  readonly tier: Tier;
}

/** Reads all rules, including those of built-in plugins, in the order of their ids: structure, meaning, environment. */
export function describedRules(): Promise<readonly RuleDescription[]> {
  return (known ??= describeRules());
}

let known: Promise<readonly RuleDescription[]> | undefined;

async function describeRules(): Promise<readonly RuleDescription[]> {
  const ofPlugins = (await readBuiltInLint()).map((rule) => ({ ...rule, tier: 'meaning' as const }));
  return [...rules, ...ofPlugins]
    .map(({ id, title, tier, severity, docs }) => ({ id, title, tier, severity, docs }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}
