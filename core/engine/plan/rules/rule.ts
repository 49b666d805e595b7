import type { NamingSettings } from '../../../victoria/names/naming.js';

/** The precision with which the backend can answer a construct. The planner acts on nothing else. */
export type Verdict =
  /** The same rows: the construct is pushed down, and not evaluated here. */
  | 'exact'
  /** These rows and possibly more: the construct is pushed down to receive fewer rows, and is evaluated here too. */
  | 'superset'
  /** Rows could be lost: the construct is not pushed down, and is evaluated only here. */
  | 'none';

/** The texts about a rule, for the documentation and `explain`. */
export interface RuleText<Id extends string = string> {
  readonly id: Id;
  readonly construct: string;
  /** The backend query, with `"text"` for the text of the LogQL query. */
  readonly backend: string;
  readonly verdict: Verdict;
  readonly reason: string;
  /** A query that matches the rule; docs/pushdown.md shows its translation. */
  readonly example: string | HiddenExample;
}

/** An example that the documentation does not show. */
export interface HiddenExample {
  readonly query: string;
  readonly whyHidden: string;
  readonly naming?: Partial<NamingSettings>;
  readonly pushdown?: 'off';
}

/** The definition of a rule. With the verdict `none` it has nothing to emit, and rarely a backend query to document. */
type Definition<Id extends string, Subject, Match, Names extends unknown[], Emitted> =
  | (Omit<RuleText<Id>, 'backend'> & {
      readonly backend?: string;
      readonly verdict: 'none';
      readonly match: (subject: Subject) => boolean;
      readonly emit?: never;
    })
  | (RuleText<Id> & {
      readonly verdict: 'exact' | 'superset';
      /** Returns the arguments of `emit` for a subject that matches the rule; undefined for all others. */
      readonly match: (subject: Subject) => Match | undefined;
      readonly emit: (match: Match, ...names: Names) => Emitted;
    });

/** Matches a part of a query, and provides the backend filter for it with its precision. */
export interface PushdownRule<
  Subject,
  Names extends unknown[],
  Emitted,
  Id extends string = string,
> extends RuleText<Id> {
  /** True if the rule emits a filter, which is the case exactly if its verdict is not `none`. */
  readonly emits: boolean;
  /** Applies the rule to a part of a query; undefined if the part does not match. */
  readonly apply: (subject: Subject) => Applied<Names, Emitted> | undefined;
}

/** A rule applied to one part of a query. */
interface Applied<Names extends unknown[], Emitted> {
  /** Makes the backend filter; undefined if there is none. */
  readonly emit: ((...names: Names) => Emitted) | undefined;
}

/** Makes the function that defines rules of one kind, for these subjects and verdicts. */
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

/** The first rule that matches a subject, applied to it. */
export function firstRule<Id extends string, Subject, Names extends unknown[], Emitted>(
  rules: readonly PushdownRule<Subject, Names, Emitted, Id>[],
  subject: Subject,
): { readonly rule: PushdownRule<Subject, Names, Emitted, Id> } & Applied<Names, Emitted> {
  for (const rule of rules) {
    const result = rule.apply(subject);
    if (result !== undefined) return { rule, ...result };
  }
  throw new Error('no pushdown rule covers a part of the query');
}

const strengths = { none: 0, superset: 1, exact: 2 } as const;

/** The item with the weakest verdict, which is that of the whole; the first one if there are several. */
export function weakest<One extends { readonly verdict: Verdict }>(all: readonly One[]): One {
  return all.reduce((least, one) => (strengths[one.verdict] < strengths[least.verdict] ? one : least));
}
