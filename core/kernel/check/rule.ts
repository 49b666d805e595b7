import type { PipelineDraft } from '../pipeline/draft.js';
import type { Finding, SourcePosition } from '../pipeline/types.js';

/** How much of the world a rule looks at: the text alone, what it means, or the machine it is to run on. */
export type Tier = 'structure' | 'meaning' | 'environment';

/** What a rule knows of a machine; only rules of the environment tier ask. */
export interface Surroundings {
  readonly signal: AbortSignal;
  /** Undefined when the path can be used for it; else why not. */
  readonly canRead: (path: string) => Promise<string | undefined>;
  readonly canWrite: (path: string) => Promise<string | undefined>;
  /** Undefined when the address is free; else why it cannot be listened on. */
  readonly canListen: (address: string) => Promise<string | undefined>;
  /** Undefined when GET on the URL is answered with 2xx; else why not. */
  readonly canReach: (url: string) => Promise<string | undefined>;
}

/** A complaint of a rule; the rule's id and severity are added to it. */
export interface Complaint {
  readonly at: SourcePosition;
  readonly message: string;
  readonly fix?: string;
}

interface RuleMeta {
  readonly id: `R${number}`;
  /** A few words, as in a table of rules. */
  readonly title: string;
  readonly severity: Finding['severity'];
  /** One paragraph for docs/checker.md: what is wrong, why it matters, what to do. */
  readonly docs: string;
  /** True when the rule judges the file as a whole; it then says nothing about a fragment in Markdown. */
  readonly isAboutWhole?: boolean;
}

export interface TextRule extends RuleMeta {
  readonly tier: 'structure' | 'meaning';
  check(draft: PipelineDraft): readonly Complaint[];
}
export interface EnvironmentRule extends RuleMeta {
  readonly tier: 'environment';
  /** True when `serve` asks the rule as well: the process would start, and fail later. */
  readonly refusesStart?: boolean;
  check(draft: PipelineDraft, surroundings: Surroundings): Promise<readonly Complaint[]>;
}
export type Rule = TextRule | EnvironmentRule;
