/** Half-open range of UTF-16 offsets into the query text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Common properties of all nodes of a tree. */
export interface Node {
  readonly span: Span;
}

export type MatchOp = '=' | '!=' | '=~' | '!~';
export type CompareOp = '==' | '!=' | '>' | '>=' | '<' | '<=';
export type LineFilterOp = '|=' | '!=' | '|~' | '!~' | '|>' | '!>';
export type ArithmeticOp = '+' | '-' | '*' | '/' | '%' | '^';
export type SetOp = 'or' | 'and' | 'unless';
export type BinaryOp = ArithmeticOp | SetOp | CompareOp;

export type RangeOp =
  | 'count_over_time'
  | 'rate'
  | 'rate_counter'
  | 'bytes_over_time'
  | 'bytes_rate'
  | 'avg_over_time'
  | 'sum_over_time'
  | 'min_over_time'
  | 'max_over_time'
  | 'stdvar_over_time'
  | 'stddev_over_time'
  | 'quantile_over_time'
  | 'first_over_time'
  | 'last_over_time'
  | 'absent_over_time';

export type VectorOp =
  | 'sum'
  | 'avg'
  | 'count'
  | 'max'
  | 'min'
  | 'stddev'
  | 'stdvar'
  | 'topk'
  | 'bottomk'
  | 'approx_topk'
  | 'sort'
  | 'sort_desc';

export type UnwrapConversion = 'bytes' | 'duration' | 'duration_seconds';

/** A whole query: of lines or of samples. */
export type Expr = LogExpr | MetricExpr;

/** A selector and its pipeline of stages, in order. */
export interface LogExpr extends Node {
  readonly kind: 'log';
  readonly selector: Selector;
  readonly stages: readonly Stage[];
}

export interface Selector extends Node {
  readonly kind: 'selector';
  readonly matchers: readonly Matcher[];
}

/** `name op "value"`; regular expressions are anchored at both ends. */
export interface Matcher extends Node {
  readonly kind: 'matcher';
  readonly name: string;
  readonly op: MatchOp;
  readonly value: string;
}

export type Stage =
  | LineFilterStage
  | JsonStage
  | LogfmtStage
  | RegexpStage
  | PatternStage
  | UnpackStage
  | DecolorizeStage
  | LabelFilterStage
  | LineFormatStage
  | LabelFormatStage
  | DropStage
  | KeepStage;

/**
 * One line filter. Only the positive operators have several alternatives, of which any may match; `!= "a" or "b"` is parsed as the two
 * stages `!= "a"` and `!= "b"`, which is how Loki prints it.
 */
export interface LineFilterStage extends Node {
  readonly kind: 'line-filter';
  readonly op: LineFilterOp;
  readonly alternatives: readonly LineFilterTerm[];
  /** True if its regexps have RE2's exact meaning rather than Loki's simplified one (see withFilters). */
  readonly isExact?: boolean;
}

/** The text that a line is compared with; `ip` terms hold the text inside `ip("...")`. */
export interface LineFilterTerm extends Node {
  readonly kind: 'text' | 'ip';
  readonly value: string;
}

export interface JsonStage extends Node {
  readonly kind: 'json';
  /** Empty means every field. */
  readonly params: readonly ParserParam[];
}

export interface LogfmtStage extends Node {
  readonly kind: 'logfmt';
  readonly strict: boolean;
  readonly keepEmpty: boolean;
  readonly params: readonly ParserParam[];
}

/** `name="path"`; a bare `name` is its own path. */
export interface ParserParam extends Node {
  readonly name: string;
  readonly path: string;
}

export interface RegexpStage extends Node {
  readonly kind: 'regexp';
  readonly pattern: string;
}

export interface PatternStage extends Node {
  readonly kind: 'pattern';
  readonly pattern: string;
}

export interface UnpackStage extends Node {
  readonly kind: 'unpack';
}

export interface DecolorizeStage extends Node {
  readonly kind: 'decolorize';
}

export interface LabelFilterStage extends Node {
  readonly kind: 'label-filter';
  readonly filter: LabelFilter;
}

export type LabelFilter =
  | LabelFilterTree
  | StringLabelFilter
  | NumberLabelFilter
  | DurationLabelFilter
  | BytesLabelFilter
  | IpLabelFilter;

export interface LabelFilterTree extends Node {
  readonly kind: 'and' | 'or';
  readonly left: LabelFilter;
  readonly right: LabelFilter;
}

export interface StringLabelFilter extends Node {
  readonly kind: 'string';
  readonly name: string;
  readonly op: MatchOp;
  readonly value: string;
  /** As for a line filter. */
  readonly isExact?: boolean;
}

export interface NumberLabelFilter extends Node {
  readonly kind: 'number';
  readonly name: string;
  readonly op: CompareOp;
  readonly value: number;
}

export interface DurationLabelFilter extends Node {
  readonly kind: 'duration';
  readonly name: string;
  readonly op: CompareOp;
  readonly nanoseconds: bigint;
}

export interface BytesLabelFilter extends Node {
  readonly kind: 'bytes';
  readonly name: string;
  readonly op: CompareOp;
  readonly bytes: number;
}

/** `name = ip("...")`; the value is an address, a CIDR block or a range `a-b`. */
export interface IpLabelFilter extends Node {
  readonly kind: 'ip';
  readonly name: string;
  readonly op: '=' | '!=';
  readonly value: string;
}

export interface LineFormatStage extends Node {
  readonly kind: 'line-format';
  readonly template: string;
}

export interface LabelFormatStage extends Node {
  readonly kind: 'label-format';
  readonly assignments: readonly LabelFormat[];
}

/** `name=source` or `name="template"`. */
export type LabelFormat =
  | (Node & { readonly kind: 'rename'; readonly name: string; readonly source: string })
  | (Node & { readonly kind: 'template'; readonly name: string; readonly template: string });

export interface DropStage extends Node {
  readonly kind: 'drop';
  readonly items: readonly LabelItem[];
}

export interface KeepStage extends Node {
  readonly kind: 'keep';
  readonly items: readonly LabelItem[];
}

/** A label by name; with a matcher, only if its value matches. */
export interface LabelItem extends Node {
  readonly name: string;
  readonly matcher: Matcher | undefined;
}

export type MetricExpr =
  RangeAggregation | VectorAggregation | BinaryExpr | LabelReplaceExpr | VectorExpr | LiteralExpr;

export interface RangeAggregation extends Node {
  readonly kind: 'range-aggregation';
  readonly op: RangeOp;
  /** Only `quantile_over_time` has one. */
  readonly parameter: number | undefined;
  readonly range: LogRange;
  readonly grouping: Grouping | undefined;
}

/** The window `[interval]` over a log query, shifted back by `offset`. */
export interface LogRange extends Node {
  readonly kind: 'log-range';
  readonly query: LogExpr;
  readonly unwrap: Unwrap | undefined;
  readonly intervalNanoseconds: bigint;
  readonly offsetNanoseconds: bigint;
}

/** `| unwrap name` and the label filters after it. */
export interface Unwrap extends Node {
  readonly kind: 'unwrap';
  readonly name: string;
  readonly conversion: UnwrapConversion | undefined;
  readonly filters: readonly LabelFilterStage[];
}

export interface Grouping extends Node {
  readonly without: boolean;
  readonly labels: readonly string[];
}

export interface VectorAggregation extends Node {
  readonly kind: 'vector-aggregation';
  readonly op: VectorOp;
  /** The `k` of `topk`, `bottomk` and `approx_topk`: an integer above 0. */
  readonly parameter: number | undefined;
  readonly grouping: Grouping | undefined;
  readonly expr: MetricExpr;
}

export interface BinaryExpr extends Node {
  readonly kind: 'binary';
  readonly op: BinaryOp;
  readonly returnBool: boolean;
  readonly matching: VectorMatching | undefined;
  readonly left: MetricExpr;
  readonly right: MetricExpr;
}

/** `on (labels)` or `ignoring (labels)`, with `group_left`/`group_right (include)`. */
export interface VectorMatching extends Node {
  readonly on: boolean;
  readonly labels: readonly string[];
  readonly group: 'left' | 'right' | undefined;
  readonly include: readonly string[];
}

export interface LabelReplaceExpr extends Node {
  readonly kind: 'label-replace';
  readonly expr: MetricExpr;
  readonly destination: string;
  readonly replacement: string;
  readonly source: string;
  readonly regex: string;
}

/** `vector(value)`. */
export interface VectorExpr extends Node {
  readonly kind: 'vector';
  readonly value: number;
}

export interface LiteralExpr extends Node {
  readonly kind: 'literal';
  readonly value: number;
}
