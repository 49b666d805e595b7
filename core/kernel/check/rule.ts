import type { PipelineDraft } from '../pipeline/draft.js';
import type { Finding, SourcePosition } from '../pipeline/types.js';

/** Subject of a rule: the text alone, its meaning, or the machine it would run on. */
export type Tier = 'structure' | 'meaning' | 'environment';

/** Checks of the machine, for rules of the environment tier. */
export interface Surroundings {
  readonly signal: AbortSignal;
  /** Resolves to undefined if the path is accessible for this use, otherwise to the reason. */
  readonly canRead: (path: string) => Promise<string | undefined>;
  readonly canWrite: (path: string) => Promise<string | undefined>;
  /** Resolves to undefined if the address is free, otherwise to the reason. */
  readonly canListen: (address: string) => Promise<string | undefined>;
  /** Resolves to undefined if GET on the URL answers 2xx, otherwise to the reason. */
  readonly canReach: (url: string) => Promise<string | undefined>;
}

/** A finding of a rule, before the rule's id and severity are added. */
export interface Complaint {
  readonly at: SourcePosition;
  readonly message: string;
  readonly fix?: string | undefined;
}

interface RuleMeta {
  readonly id: `R${number}`;
  /** A few words, for tables of rules. */
  readonly title: string;
  readonly severity: Finding['severity'];
  /** One paragraph for docs/checker.md: the problem, why it matters, how to fix it. */
  readonly docs: string;
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
