import type { LabelFilter, LabelFilterStage, Matcher, Stage } from '../ast.js';
import type { Hints } from '../pipeline/hints.js';
import type { Meter } from '../pipeline/meter.js';
import type { SlotTable } from '../pipeline/slot.js';
import type { RunStage } from '../pipeline/work-line.js';

/** Names of labels; `all` where the text of a stage does not tell them. */
export type Names = readonly string[] | 'all';

/**
 * Where the values come from that a parser makes labels of: from under all keys of a JSON object or of pairs, each of which gives a label
 * of its name, from other pieces of the line, or from a line that the parser makes.
 */
export type LineSource = 'json-keys' | 'pair-keys' | 'pieces' | 'other-lines';

/** Why the backend is not asked for a stage (core/engine/plan/rules/stage.ts has the texts). */
export type WhyHere = 'lineAfterChange' | 'lineRewrite' | 'parser' | 'labelRewrite';

/** What the stages of one pipeline are compiled with. */
export interface CompileContext {
  readonly slots: SlotTable;
  readonly hints: Hints;
  readonly meter: Meter;
}

/** Everything about one kind of stage; core/logql/stages/index.ts lists them. */
export interface StageDescriptor<S extends Stage> {
  /** The word behind the pipe; undefined for filters. */
  readonly word: string | undefined;
  /** Adds its rules to the grammar. */
  addRules(): void;
  /** Prints it with its leading operator or pipe, as Loki does. */
  print(stage: S): string;
  /**
   * In a query that is printed on several lines: on one of its own, as Loki does for one stage without indentation, or with its neighbours of the
   * same kind, which are one stage for Loki. Where these have no room on one line, those left over are printed by `printAlone`.
   */
  readonly layout: 'indented' | 'unindented' | { printAlone(stage: S): string };

  /** What has to be checked before it can be compiled: each gives Loki's text about a fault. */
  checks(stage: S): readonly (() => string | undefined)[];
  /** What is limited for all stages of a query together: alternatives of filters, and labels that are made by `label_format`. */
  size(stage: S): { readonly alternatives?: number; readonly formattedLabels?: number };

  /** The nodes of the tree below it, from left to right. */
  children(stage: S): readonly (LabelFilter | Matcher)[];
  /** The stage with all names of labels in it changed. */
  rename(stage: S, nameOf: (name: string) => string): S;
  /** The stage with regexps that mean what they say (see withFilters). */
  exact(stage: S): S;

  /** The order in which Loki runs stages: a `filter` runs before all `other` stages in front of it, back to the last `barrier`. */
  readonly order: 'filter' | 'barrier' | 'other';
  /** True when Loki knows that it reads the line. */
  readonly readsLine: boolean;
  /** `for-readers`: Loki leaves the stage out of counts where no later stage reads the line. */
  readonly changesLine: 'no' | 'yes' | 'for-readers';
  /** For a parser, where the values of its labels come from. */
  source(stage: S): LineSource | undefined;
  /** The labels that it may add or change. */
  makes(stage: S): Names;
  /** The labels that it may take away. */
  loses(stage: S): Names;
  /** True when it may mark a line with an error, leaves no error behind, or does nothing of the kind. */
  errors(stage: S): 'made' | 'dropped' | 'kept';
  /** True when Loki counts it among the filters, which choose lines. */
  isFilter(stage: S): boolean;
  /**
   * Compiles it.
   * @throws the errors that its checks turn into Loki's texts
   */
  compile(stage: S, context: CompileContext): RunStage;

  /** The labels that Loki knows it reads: the parsers of a metric query extract them. */
  hintedNames(stage: S): readonly string[];
  /** The labels that it looks at. */
  names(stage: S): Names;
  /**
   * The labels that must be known of a group of rows to run it once for all of them; undefined where labels are not enough. Labels that are dropped
   * or kept whatever they are need not be known.
   */
  groupNames(stage: S): readonly string[] | undefined;
  /** Why the backend is not asked for it. For label filters it is asked by rules of their own, and for line filters on the stored line. */
  readonly whyHere: S extends LabelFilterStage ? undefined : WhyHere;
}

export const none = (): readonly never[] => [];
export const nothing = (): undefined => undefined;
export const never = (): boolean => false;
export const noSize = (): Record<never, never> => ({});
export const unchanged = <S extends Stage>(stage: S): S => stage;

/** What parsers have in common: they make labels of the line and look at none. */
export const parserTraits = {
  layout: 'indented',
  size: noSize,
  children: none,
  exact: unchanged,
  order: 'other',
  readsLine: true,
  changesLine: 'no',
  loses: none,
  errors: (): 'made' => 'made',
  isFilter: never,
  hintedNames: none,
  names: none,
  groupNames: nothing,
  whyHere: 'parser',
} as const;

/** True when there are such names. */
export function isAny(names: Names): boolean {
  return names.length > 0;
}

/** The alternatives of a text that may be a regexp. */
export function alternativesIn(pattern: string): number {
  let count = 1;
  for (let at = pattern.indexOf('|'); at >= 0; at = pattern.indexOf('|', at + 1)) count += 1;
  return count;
}
