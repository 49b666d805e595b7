/** Rule groups reported by the rules backend (`/api/v1/rules`), parsed without trusting their structure. */
import { memberOf } from '../../core/base/json-member.js';

export interface RulerRule {
  readonly kind: 'alert' | 'record';
  readonly name: string;
  readonly expr: string;
  readonly forSeconds: number;
  readonly keepFiringForSeconds: number;
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
}
export interface RuleGroup {
  /** The file that contains it, which is Loki's namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly intervalSeconds: number;
  readonly rules: readonly RulerRule[];
}

/** Parses `{data: {groups: [...]}}`; undefined if the document has no groups. Missing fields of a group or rule become empty. */
export function readGroups(document: unknown): readonly RuleGroup[] | undefined {
  const groups = memberOf(memberOf(document, 'data'), 'groups');
  // Go writes an empty list as null.
  if (groups === null) return [];
  return Array.isArray(groups) ? groups.map(readGroup) : undefined;
}

function readGroup(group: unknown): RuleGroup {
  const rules = memberOf(group, 'rules');
  return {
    namespace: text(memberOf(group, 'file')),
    name: text(memberOf(group, 'name')),
    intervalSeconds: number(memberOf(group, 'interval')),
    rules: Array.isArray(rules) ? rules.map(readRule) : [],
  };
}

function readRule(rule: unknown): RulerRule {
  return {
    kind: memberOf(rule, 'type') === 'recording' ? 'record' : 'alert',
    name: text(memberOf(rule, 'name')),
    expr: text(memberOf(rule, 'query')),
    forSeconds: number(memberOf(rule, 'duration')),
    // The spelling of vmalert, and that of Prometheus.
    keepFiringForSeconds: number(memberOf(rule, 'keep_firing_for') ?? memberOf(rule, 'keepFiringFor')),
    labels: texts(memberOf(rule, 'labels')),
    annotations: texts(memberOf(rule, 'annotations')),
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function number(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function texts(value: unknown): ReadonlyMap<string, string> {
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(Object.entries(value).map(([name, each]) => [name, text(each)]));
}
