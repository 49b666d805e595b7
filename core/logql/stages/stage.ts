import { quoteGo } from '../../base/label-set.js';
import type { LabelFilter, LabelFilterStage, Matcher, ParserParam, Stage } from '../ast.js';
import { stageFault } from '../check/faults.js';
import type { PatternPart } from '../pattern.js';
import type { LabelComparison } from '../pipeline/label-comparison.js';
import type { SlotTable } from '../pipeline/slot.js';
import type { Hints, Meter, RunStage } from '../pipeline/work-line.js';
import { append, grammar, token } from '../syntax/tokens.js';

/** Names of labels; `all` if they do not follow from the text of the stage. */
export type Names = readonly string[] | 'all';

/**
 * The source of the values of a parser's labels: all keys of a JSON object or of pairs, each of which makes a label of its name (of
 * `pair-keys` only if it has a value, and no line is an error; of `strict-pair-keys` only if it has a value; of `all-pair-keys` always);
 * pieces of the line; or a line that the parser makes.
 */
export type LineSource =
  'json-keys' | 'pair-keys' | 'strict-pair-keys' | 'all-pair-keys' | 'pieces' | 'other-lines';

/** The keys on the way to a label. */
export type LabelPath = readonly [name: string, keys: readonly string[]];

/** A way in which the backend can extract the labels of a parser. */
export type Extraction =
  /** The keys of an object, or of pairs, are the labels. */
  | { readonly from: 'json-keys' | 'pair-keys' }
  /** The keys of an object are the labels, and those of pairs in any line: two parsers, one after the other. */
  | { readonly from: 'json-then-pairs' }
  /** The keys on the way to each label. */
  | { readonly from: 'json-paths'; readonly paths: readonly LabelPath[] }
  /** A pattern with at least one literal text. */
  | { readonly from: 'captures'; readonly parts: readonly PatternPart[] }
  /** The named groups of a valid regular expression. */
  | { readonly from: 'groups'; readonly expression: string };

/** The reason why a stage is not pushed down to the backend (core/engine/plan/rules/stage.ts has the texts). */
export type WhyHere = 'lineAfterChange' | 'lineRewrite' | 'parser' | 'labelRewrite';

/** The context in which the stages of one pipeline are compiled. */
export interface CompileContext {
  readonly slots: SlotTable;
  readonly hints: Hints;
  readonly meter: Meter;
}

/** Everything about one kind of stage; core/logql/stages/index.ts lists them. */
export interface StageDescriptor<S extends Stage> {
  /** The keyword of the stage; undefined for filters. */
  readonly word: string | undefined;
  /** Adds its rules to the grammar. */
  addRules(): void;
  /** Prints it with its leading operator or pipe, as Loki does. */
  print(stage: S): string;
  /**
   * The layout in a query printed on several lines: on a line of its own (Loki prints one kind of stage unindented), or together with
   * adjacent stages of the same kind, which are one stage to Loki. Those that do not fit one line are printed by `printAlone`.
   */
  readonly layout: 'indented' | 'unindented' | { printAlone(stage: S): string };

  /** Checks to run before compiling; each returns Loki's text for a fault. */
  checks(stage: S): readonly (() => string | undefined)[];
  /** Counts towards the limits on all stages of a query together: alternatives of filters, and labels made by `label_format`. */
  size(stage: S): { readonly alternatives?: number; readonly formattedLabels?: number };

  /** The nodes of the tree below it, from left to right. */
  children(stage: S): readonly (LabelFilter | Matcher)[];
  /** The stage with all label names mapped. */
  rename(stage: S, nameOf: (name: string) => string): S;
  /** The stage with regexps that have their exact meaning (see withFilters). */
  exact(stage: S): S;

  /** The order in which Loki runs stages: a `filter` runs before all `other` stages preceding it, back to the last `barrier`. */
  readonly order: 'filter' | 'barrier' | 'other';
  /** True if Loki knows that the stage reads the line. */
  readonly readsLine: boolean;
  /** `for-readers`: Loki leaves the stage out of counts where no later stage reads the line. */
  readonly changesLine: 'no' | 'yes' | 'for-readers';
  /** For a parser, the source of the values of its labels. */
  source(stage: S): LineSource | undefined;
  /** The way in which the backend can extract the labels of a parser as well; undefined if there is none. */
  extraction?(stage: S): Extraction | undefined;
  /** The keys that a parser reads of a JSON object without nested values; undefined for every other stage. */
  objectKeys?(stage: S): Names;
  /** The comparisons of labels of which the stage consists; undefined for every other stage. */
  comparisons?(stage: S): readonly LabelComparison[];
  /** Labels that the stage may add or change. */
  makes(stage: S): Names;
  /** Labels that the stage may remove. */
  loses(stage: S): Names;
  /** `made`: it may mark a line with an error; `dropped`: no line keeps an error after it; `kept`: neither. */
  errors(stage: S): 'made' | 'dropped' | 'kept';
  /** True if Loki counts the stage among the filters, which select lines. */
  isFilter(stage: S): boolean;
  /**
   * Compiles the stage.
   * @throws the errors that its checks turn into Loki's texts
   */
  compile(stage: S, context: CompileContext): RunStage;

  /** Labels that Loki knows to be read by the stage: the parsers of a metric query extract them. */
  hintedNames(stage: S): readonly string[];
  /** Labels that the stage reads. */
  names(stage: S): Names;
  /**
   * Labels by which rows must be grouped to run the stage once per group; undefined if labels are not enough. Labels that are dropped or
   * kept whatever their values are not included.
   */
  groupNames(stage: S): readonly string[] | undefined;
  /** The reason why the stage is not pushed down. Label filters, and line filters on the stored line, have rules of their own. */
  readonly whyHere: S extends LabelFilterStage ? undefined : WhyHere;
}

const none = (): readonly never[] => [];
export const nothing = (): undefined => undefined;
const unchanged = <S extends Stage>(stage: S): S => stage;

/** Properties of a stage that uses no labels, reads no line and changes nothing; each stage replaces those in which it differs. */
export const usualTraits = {
  layout: 'indented',
  checks: none,
  size: () => ({}),
  children: none,
  rename: unchanged,
  exact: unchanged,
  order: 'other',
  readsLine: false,
  changesLine: 'no',
  source: nothing,
  makes: none,
  loses: none,
  errors: (): 'kept' => 'kept',
  isFilter: () => false,
  hintedNames: none,
  names: none,
  groupNames: nothing,
} as const;

/** Common properties of parsers: they make labels from the line and read none. */
export const parserTraits = {
  ...usualTraits,
  readsLine: true,
  errors: (): 'made' => 'made',
  whyHere: 'parser',
} as const;

/** True if there are any names. */
export function isAny(names: Names): boolean {
  return names.length > 0;
}

/** The number of alternatives in a text that may be a regexp. */
export function alternativesIn(pattern: string): number {
  let count = 1;
  for (let at = pattern.indexOf('|'); at >= 0; at = pattern.indexOf('|', at + 1)) count += 1;
  return count;
}

/** The parameters of `| json` and `| logfmt`. */
export const params = grammar.nonterminal<ParserParam[]>('parser parameters');

interface WithParams {
  readonly params: readonly ParserParam[];
}

export function addParamRules(): void {
  const { identifier, string, equal, comma } = token;
  const param = grammar.nonterminal<ParserParam>('parser parameter');
  grammar.rule(param)([identifier], ([name], span) => ({ name, path: name, span }));
  grammar.rule(param)([identifier, equal, string], ([name, , path], span) => ({ name, path, span }));
  grammar.rule(params)([param], ([first]) => [first]);
  grammar.rule(params)([params, comma, param], ([list, , next]) => append(list, next));
}

export function printParams(list: readonly ParserParam[]): string {
  const text = list.map(({ name, path }) => `${name}=${quoteGo(path)}`).join(',');
  return text === '' ? '' : ` ${text}`;
}

export function renameParams<S extends WithParams>(stage: S, nameOf: (name: string) => string): S {
  return { ...stage, params: stage.params.map((param) => ({ ...param, name: nameOf(param.name) })) };
}

export function paramChecks(
  { params: list }: WithParams,
  parse: (path: string) => unknown,
): readonly (() => string | undefined)[] {
  return list.map((param) => () => stageFault(() => parse(param.path)));
}

/** Without parameters the labels depend on the line. */
export function paramNames({ params: list }: WithParams): Names {
  return list.length === 0 ? 'all' : list.map(({ name }) => name);
}
