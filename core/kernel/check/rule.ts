import type { PipelineDraft } from '../pipeline/draft.js';
import type { Finding, SourcePosition } from '../pipeline/types.js';

/** Subject of a rule: the text alone, its meaning, or the machine it would run on. */
export type Tier = 'structure' | 'meaning' | 'environment';

/** Questions of a rule about a machine; for rules of the environment tier. */
export interface Surroundings {
  readonly signal: AbortSignal;
  /** Undefined when the path can be used so; otherwise the reason why not. */
  readonly canRead: (path: string) => Promise<string | undefined>;
  readonly canWrite: (path: string) => Promise<string | undefined>;
  /** Undefined when the address is free; otherwise the reason why not. */
  readonly canListen: (address: string) => Promise<string | undefined>;
  /** Undefined when GET on the URL answers 2xx; otherwise the reason why not. */
  readonly canReach: (url: string) => Promise<string | undefined>;
}

/** A complaint of a rule, to which the rule's id and severity are added. */
export interface Complaint {
  readonly at: SourcePosition;
  readonly message: string;
  readonly fix?: string;
}

interface RuleMeta {
  readonly id: `R${number}`;
  /** A few words, for tables of rules. */
  readonly title: string;
  readonly severity: Finding['severity'];
  /** One paragraph for docs/checker.md: what is wrong, why it matters, what to do. */
  readonly docs: string;
  /** True when the rule judges the file as a whole: it then skips fragments in Markdown. */
  readonly isAboutWhole?: boolean;
}

export interface TextRule extends RuleMeta {
  readonly tier: 'structure' | 'meaning';
  check(draft: PipelineDraft): readonly Complaint[];
}
export interface EnvironmentRule extends RuleMeta {
  readonly tier: 'environment';
  /** True when `serve` also applies the rule: the process would start but fail later. */
  readonly refusesStart?: boolean;
  check(draft: PipelineDraft, surroundings: Surroundings): Promise<readonly Complaint[]>;
}
export type Rule = TextRule | EnvironmentRule;
