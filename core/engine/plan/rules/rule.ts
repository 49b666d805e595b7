import type { NamingSettings } from '../../../victoria/names/naming.js';

/** The precision with which the backend answers a construct as LogQL means it; the planner acts on nothing else. */
export type Verdict =
  /** The same rows: the backend is asked, and nothing of it is evaluated here. */
  | 'exact'
  /** These rows and perhaps more: the backend is asked and sends fewer rows, and the construct is evaluated here too. */
  | 'superset'
  /** It might lose rows: the backend is not asked, the construct is evaluated here only. */
  | 'none';

/** The texts about a rule in the documentation and in `explain`. */
export interface RuleText<Id extends string = string> {
  readonly id: Id;
  readonly construct: string;
  /** The query to the backend, with `"text"` for the text of the LogQL query. */
  readonly backend: string;
  readonly verdict: Verdict;
  readonly reason: string;
  /** A query that falls under the rule; docs/pushdown.md shows what becomes of it. */
  readonly example: string | HiddenExample;
}

/** An example that the documentation does not show. */
export interface HiddenExample {
  readonly query: string;
  readonly whyHidden: string;
  readonly naming?: Partial<NamingSettings>;
  readonly pushdown?: 'off';
}

/** A rule as it is written down. A rule of the verdict `none` has nothing to emit, and seldom a backend to tell of. */
type Definition<Id extends string, Subject, Match, Names extends unknown[], Emitted> =
  | (Omit<RuleText<Id>, 'backend'> & {
      readonly backend?: string;
      readonly verdict: 'none';
      readonly match: (subject: Subject) => boolean;
      readonly emit?: never;
    })
  | (RuleText<Id> & {
      readonly verdict: 'exact' | 'superset';
      /** Returns the arguments of `emit` for a subject that falls under the rule; undefined for all others. */
      readonly match: (subject: Subject) => Match | undefined;
      readonly emit: (match: Match, ...names: Names) => Emitted;
    });

/** Matches a part of a query, and gives the backend query for that part and its precision. */
export interface PushdownRule<
  Subject,
  Names extends unknown[],
  Emitted,
  Id extends string = string,
> extends RuleText<Id> {
  /** True when it has something to ask for, which a rule has exactly where its verdict is not `none`. */
  readonly emits: boolean;
  /** Applies the rule to a part of a query; undefined when the part does not fall under the rule. */
  readonly apply: (subject: Subject) => Applied<Names, Emitted> | undefined;
}

/** A rule applied to one part of a query. */
interface Applied<Names extends unknown[], Emitted> {
  /** Makes the backend query; undefined where there is none. */
  readonly emit: ((...names: Names) => Emitted) | undefined;
}

/** Makes the function that defines the rules of one kind: about such subjects, with such verdicts. */
export function kindOfRule<Subject, Emitted, Names extends unknown[] = [], V extends Verdict = Verdict>() {
  return <const Id extends string, Match>(
    definition: Definition<Id, Subject, Match, Names, Emitted> & { readonly verdict: V },
  ): PushdownRule<Subject, Names, Emitted, Id> & { readonly verdict: V } => ({
    backend: '',
    ...definition,
    emits: definition.emit !== undefined,
    apply: (subject) => applied(definition, subject),
  });
}

function applied<Id extends string, Subject, Match, Names extends unknown[], Emitted>(
  definition: Definition<Id, Subject, Match, Names, Emitted>,
  subject: Subject,
): Applied<Names, Emitted> | undefined {
  if (definition.verdict === 'none') return definition.match(subject) ? { emit: undefined } : undefined;
  const match = definition.match(subject);
  return match === undefined ? undefined : { emit: (...names) => definition.emit(match, ...names) };
}

/** The first rule that a subject falls under, and what it does. */
export function firstRule<Id extends string, Subject, Names extends unknown[], Emitted>(
  rules: readonly PushdownRule<Subject, Names, Emitted, Id>[],
  subject: Subject,
): { readonly rule: PushdownRule<Subject, Names, Emitted, Id> } & Applied<Names, Emitted> {
  for (const rule of rules) {
    const result = rule.apply(subject);
    if (result !== undefined) return { rule, ...result };
  }
  throw new Error('a part of a query that no rule is about');
}

const strengths = { none: 0, superset: 1, exact: 2 } as const;

/** The worst of the verdicts, which is that of the whole; the first of several. */
export function weakest<One extends { readonly verdict: Verdict }>(all: readonly One[]): One {
  return all.reduce((least, one) => (strengths[one.verdict] < strengths[least.verdict] ? one : least));
}
