import { stringify } from 'yaml';
import { printPrometheusDuration } from '../../core/base/time/index.js';
import type { Rule, RuleGroup } from './groups.js';

/** Groups by namespace as Loki's ruler writes them (docs/protocol/requests.md#rules-and-alerts). */
export function printNamespaces(groups: readonly RuleGroup[]): string {
  const namespaces = new Map<string, Map<string, unknown>[]>();
  for (const group of groups) {
    const ofNamespace = namespaces.get(group.namespace) ?? [];
    namespaces.set(group.namespace, ofNamespace);
    ofNamespace.push(groupNode(group));
  }
  return printYaml(new Map([...namespaces].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** One group as Loki's ruler writes it. */
export function printGroup(group: RuleGroup): string {
  return printYaml(groupNode(group));
}

function printYaml(node: unknown): string {
  // No line folding, so expressions stay unchanged. YAML 1.1 parsers read `yes` and the like as booleans.
  return stringify(node, { indent: 4, lineWidth: 0, compat: 'yaml-1.1' });
}

function groupNode({ name, intervalSeconds, rules }: RuleGroup): Map<string, unknown> {
  return new Map<string, unknown>([
    ['name', name],
    ...(intervalSeconds > 0 ? [['interval', duration(intervalSeconds)] as const] : []),
    ['rules', rules.map(ruleNode)],
  ]);
}

function ruleNode(rule: Rule): Map<string, unknown> {
  return new Map<string, unknown>([
    [rule.kind, rule.name],
    ['expr', rule.expr],
    ...(rule.forSeconds > 0 ? [['for', duration(rule.forSeconds)] as const] : []),
    ...(rule.keepFiringForSeconds > 0
      ? [['keep_firing_for', duration(rule.keepFiringForSeconds)] as const]
      : []),
    ...(rule.labels.size > 0 ? [['labels', rule.labels] as const] : []),
    ...(rule.annotations.size > 0 ? [['annotations', rule.annotations] as const] : []),
  ]);
}

function duration(seconds: number): string {
  return printPrometheusDuration(BigInt(Math.round(seconds * 1000)) * 1_000_000n);
}
