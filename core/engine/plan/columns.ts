import { addTo } from '../../base/order.js';
import type { Grouping, LabelFilter, LabelFilterStage, Matcher, Stage } from '../../logql/ast.js';
import { rangeFunctions } from '../../logql/functions/range/index.js';
import { type Leaf, readsErrors } from '../../logql/metric/index.js';
import type { LabelComparison } from '../../logql/pipeline/label-comparison.js';
import { decidingErrorLabels, errorDetailsLabel, errorLabel } from '../../logql/pipeline/types.js';
import { descriptorOf, looksAt } from '../../logql/stages/index.js';
import type { Extraction } from '../../logql/stages/stage.js';
import type { FieldRef, LogsqlFilter, StreamMatcher } from '../../victoria/logsql/ast.js';
import {
  and,
  everything,
  fieldName,
  isOfStreams,
  matcher,
  not,
  nothing,
  or,
} from '../../victoria/logsql/build.js';
import { levelNames } from '../../victoria/names/level-words.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import { isChosenField, isOtlpField, type Naming } from '../../victoria/names/naming.js';
import { serviceNameLabel, unknownService } from '../../victoria/names/service-name.js';
import { aggregateLabels } from '../../victoria/names/stream-identity.js';
import { matchesText, passesAnyText, wholeMatcher } from './backend-pattern.js';

const scopeAttributes = 'scope.attributes.';
const clashSuffix = '_extracted';

type SeenLeaf = Pick<Leaf, 'range' | 'pushed' | 'merged'>;

/** The grouping of the series of a leaf; undefined if they keep all labels. */
export function groupingOf({
  range,
  pushed,
  merged,
}: SeenLeaf): Pick<Grouping, 'without' | 'labels'> | undefined {
  return rangeFunctions[range.op].ofNothing === undefined ? (range.grouping ?? pushed ?? merged) : noLabels;
}

/** The labels that a range aggregation can distinguish; undefined for all labels. */
export function visibleNames(leaf: SeenLeaf): ReadonlySet<string> | undefined {
  const { range } = leaf;
  const grouping = groupingOf(leaf);
  if (grouping === undefined || grouping.without) return undefined;
  const { query, unwrap } = range.range;
  const names = new Set(grouping.labels);
  if (unwrap !== undefined) names.add(unwrap.name);
  for (const stage of [...query.stages, ...(unwrap?.filters ?? [])]) {
    const seen = descriptorOf(stage).names(stage);
    if (seen === 'all') return undefined;
    for (const name of seen) names.add(name);
  }
  return withLevel(names);
}

/**
 * True if a sample may keep an error on purpose: it is then a separate series with all labels, whatever the grouping, unless an
 * aggregation around it groups it again.
 */
export function mayKeepErrors({ range, pushed, merged }: SeenLeaf): boolean {
  const filters = range.range.unwrap?.filters ?? [];
  return (pushed ?? merged) === undefined && !endsWithoutErrors(filters) && readsErrors(range.range);
}

/** True if no sample with an error passes the filters: the last filter on errors is `__error__=""`, and later ones cannot fail. */
function endsWithoutErrors(filters: readonly LabelFilterStage[]): boolean {
  for (const { filter } of filters.toReversed()) {
    if (filter.kind !== 'string') return false;
    if (filter.name === errorLabel) return isNoError(filter);
  }
  return false;
}

/** True for `__error__=""`. */
function isNoError(filter: LabelFilter): boolean {
  return filter.kind === 'string' && filter.name === errorLabel && filter.op === '=' && filter.value === '';
}

/** The visible labels, including the suffixed name of the level found in an entry if that label is among them. */
export function withLevel(names: ReadonlySet<string>): ReadonlySet<string> {
  return names.has(`${detectedLevelName}${clashSuffix}`) ? new Set([...names, detectedLevelName]) : names;
}

const noLabels = { without: false, labels: [] };

/** Columns that the row reader always needs. */
const ownColumns = ['_time', '_stream', '_msg', ...decidingErrorLabels];
/** Labels that need no other column: stages set them, or `ownColumns` has them. */
const ofErrors: ReadonlySet<string> = new Set([...decidingErrorLabels, errorDetailsLabel]);
const levelPrefixes = [...new Set(levelNames.map((name) => name.replace(/[^A-Za-z].*$/, ''))), 'detected'];

/**
 * The columns to read if only these labels are visible; undefined if all are needed. The stored spelling of a label is only known row by
 * row, so columns are selected by the prefix that all spellings share.
 */
export function columnsFor(
  names: ReadonlySet<string> | undefined,
  naming: Naming,
): readonly FieldRef[] | undefined {
  if (names === undefined) return undefined;
  const prefixes = new Set<string>();
  const exact = new Set(ownColumns);
  for (const name of names) {
    if (name === serviceNameLabel || ofErrors.has(name)) continue;
    if (name === detectedLevelName) {
      for (const prefix of levelPrefixes) prefixes.add(prefix);
      prefixes.add(scopeAttributes);
      continue;
    }
    for (const field of [...naming.fieldsOf(name), ...naming.fieldsOf(plainName(name))]) exact.add(field);
    const start = /^[A-Za-z0-9]*/.exec(name)?.[0] ?? '';
    // `key_1` may be stored as `1`, and `_a` as `.a`.
    if (start === '' || name.startsWith('key_')) return undefined;
    prefixes.add(start);
    prefixes.add(`${scopeAttributes}${start}`);
  }
  if (prefixes.size > 0) exact.add('severity_number');
  return [
    ...[...exact].map(fieldName),
    ...[...prefixes].map((prefix): FieldRef => ({ kind: 'prefix', prefix })),
  ];
}

/** A label without the suffix that it gets if a stream label has the same name. */
export function plainName(name: string): string {
  return name.endsWith(clashSuffix) ? name.slice(0, -clashSuffix.length) : name;
}

/** True for `| json` without expressions. */
export function isWholeJson(stage: Stage): boolean {
  return descriptorOf(stage).source(stage) === 'json-keys';
}

/** Labels of a parser. */
export interface ParsedNames {
  readonly parser: Extraction;
  readonly names: readonly string[];
}

/** A count of a leaf's samples by the backend. */
export interface LeafCount {
  readonly measure: 'count' | 'bytes' | 'presence';
  /** Labels that the groups must distinguish. */
  readonly names: ReadonlySet<string> | 'all';
  /** Names that only stages use; they may have as many values as rows. */
  readonly stageNames: ReadonlySet<string>;
  /** Stages that run on groups instead of rows. */
  readonly stages: readonly Stage[];
  /** The labels that a parser may take from lines; undefined if no stage reads them. */
  readonly parsed?: ParsedNames;
  /** True if lines that the parser cannot read count like those that it can. */
  readonly dropsErrors?: boolean;
}

/** A leaf with samples that the backend can count. */
export interface LeafPush extends LeafCount {
  /** True if lines are inspected when groups are not enough; otherwise groups decide everything. */
  readonly looksAtLines: boolean;
}

export function extractionOf(stage: Stage): Extraction | undefined {
  return descriptorOf(stage).extraction?.(stage);
}

/** The way in which the backend can extract the labels of parsers that run one after the other. */
export function extractionOfAll([first, second, ...others]: readonly Stage[]): Extraction | undefined {
  if (first === undefined || others.length > 0) return undefined;
  if (second === undefined) return extractionOf(first);
  const arePlain = isWholeJson(first) && descriptorOf(second).source(second) === 'pair-keys';
  return arePlain ? { from: 'json-then-pairs' } : undefined;
}

/**
 * True for the parsers of Logs Drilldown's queries for single fields. Many of these come at once, and to read the rows once for all of them
 * costs less than to count for each.
 */
export function isAskedInBursts(parsed: ParsedNames | undefined): boolean {
  return parsed?.parser.from === 'json-then-pairs';
}

/** The names, if a parser makes each of them from keys in only one way; otherwise undefined. */
export function plainNames(names: ReadonlySet<string>): readonly string[] | undefined {
  const made = [...names].filter((name) => !name.startsWith('__error') && name !== detectedLevelName);
  const arePlain = made.every((name) => /^_?[A-Za-z][A-Za-z0-9_]*$/.test(name) && name === plainName(name));
  return arePlain && made.length > 0 ? made : undefined;
}

/** True if parser errors are dropped before anything depends on them. */
export function dropsErrors(stages: readonly Stage[], names: ReadonlySet<string>): boolean {
  if ([...names].some((name) => name.startsWith('__error'))) return false;
  const first = firstLookAtErrors(stages);
  return first !== undefined && descriptorOf(first).errors(first) === 'dropped';
}

/** True if lines with a parser error do not pass, and nothing has looked at the error before: the stage behind is `| __error__=""`. */
export function filtersErrors(stages: readonly Stage[]): boolean {
  const first = firstLookAtErrors(stages);
  const [one, another] = (first && descriptorOf(first).comparisons?.(first)) ?? [];
  return one !== undefined && isNoError(one) && another === undefined;
}

/** The first stage behind the parser that depends on errors. */
function firstLookAtErrors(stages: readonly Stage[]): Stage | undefined {
  const behind = stages.slice(stages.findIndex((stage) => extractionOf(stage) !== undefined) + 1);
  return behind.find((stage) => looksAt(stage, (name) => name.startsWith('__error')));
}

/** The comparisons of labels whose values matter to nothing else, by label. */
export type ComparedLabels = ReadonlyMap<string, readonly LabelComparison[]>;

/** Maximum number of comparisons of a label; each may double the number of outcomes. */
const maxComparisons = 4;

/** Finds the labels that the stages of a leaf, and the filters of `unwrap`, only compare. */
export function comparedLabels(
  leaf: SeenLeaf & { readonly mayKeepErrors?: true },
  {
    names: visible,
    stages,
  }: { readonly names: ReadonlySet<string> | 'all'; readonly stages: readonly Stage[] },
): ComparedLabels {
  // A sample that keeps an error has all labels.
  if (visible === 'all' || leaf.mayKeepErrors === true) return new Map();
  const { unwrap } = leaf.range.range;
  const compared = new Map<string, LabelComparison[]>();
  const used = new Set(groupingOf(leaf)?.labels);
  if (unwrap !== undefined) used.add(unwrap.name);
  for (const stage of [...stages, ...(unwrap?.filters ?? [])]) {
    const descriptor = descriptorOf(stage);
    const comparisons = descriptor.comparisons?.(stage);
    for (const comparison of comparisons ?? []) addTo(compared, comparison.name, comparison);
    // A parser makes its labels from the line alone.
    if (comparisons !== undefined || descriptor.source(stage) !== undefined) continue;
    for (const names of [descriptor.names(stage), descriptor.makes(stage)]) {
      if (names === 'all') return new Map();
      for (const name of names) used.add(name);
    }
  }
  const isOnlyCompared = (name: string): boolean =>
    !used.has(name) && !name.startsWith('__') && name !== detectedLevelName;
  return new Map(
    [...compared].filter(
      ([name, comparisons]) => isOnlyCompared(name) && comparisons.length <= maxComparisons,
    ),
  );
}

type Comparison = Pick<Matcher, 'name' | 'op' | 'value'>;

/** The source of a label in some streams: the first of the fields that has a value, or a fixed value. */
interface LabelRule {
  /** Matches the streams of the rule; undefined for all streams without another rule. */
  readonly streams: LogsqlFilter | undefined;
  readonly fields: readonly string[];
  readonly otherwise: string;
}

/** A field, and the streams in which it becomes a label. */
interface LabelSource {
  readonly field: string;
  readonly streams: LogsqlFilter;
}

/**
 * The stored stream fields that become labels (docs/loki-view.md), to translate conditions on labels for the backend. Knows the fields that
 * options name, and those in a listing of stored fields.
 */
export class LabelFields {
  readonly #naming: Naming;
  readonly #stored: readonly string[];
  #otlpStreams: LogsqlFilter | undefined;

  constructor(naming: Naming, stored: Iterable<string> = []) {
    this.#naming = naming;
    this.#stored = [...stored];
  }

  /** True if a label may come from stream fields that only a listing shows. */
  static needsListing(name: string, naming: Naming): boolean {
    return name === serviceNameLabel || naming.mayHaveOtherFields(name);
  }

  /** True if a known stored field becomes the label. */
  hasField(name: string): boolean {
    const stored = new Set(this.#stored);
    return this.#fieldsOf(name).some((field) => stored.has(field));
  }

  /** Matches rows of the streams whose label passes a comparison. */
  select({ name, op, value }: Comparison): LogsqlFilter {
    const rules = this.#rulesOf(name);
    const [only, another] = rules;
    if (only !== undefined && another === undefined && only.otherwise === '') {
      const [field, rival] = only.fields;
      if (field !== undefined && rival === undefined)
        return { kind: 'stream', groups: [[wholeMatcher(field, op, value)]] };
    }
    const passing = rules.map((rule) => [rule, firstPasses(rule, { op, value })] as const);
    if (passing.every(([, { kind }]) => kind === 'all')) return everything;
    return or(...passing.map(([rule, passes]) => and(this.#streamsOf(rule, rules), passes)));
  }

  /** Every field that may provide the label's value, with the streams in which it does. */
  sourcesOf(name: string): readonly LabelSource[] {
    const rules = this.#rulesOf(name);
    return rules.flatMap((rule) => {
      const streams = this.#streamsOf(rule, rules);
      return rule.fields.map((field, index) => ({
        field,
        streams: and(streams, withoutFields(rule.fields.slice(0, index))),
      }));
    });
  }

  /** Matches streams of OpenTelemetry exporters; undefined if no stream can be one. */
  get otlpStreams(): LogsqlFilter | undefined {
    return (this.#otlpStreams ??= otlpStreamsAmong(this.#stored));
  }

  #fieldsOf(name: string): readonly string[] {
    return name === serviceNameLabel
      ? this.#naming.serviceFields(this.#stored)
      : this.#naming.fieldsOf(name, this.#stored);
  }

  #rulesOf(name: string): readonly LabelRule[] {
    const fields = this.#fieldsOf(name);
    const otherwise = name === serviceNameLabel ? unknownService : '';
    const rules: LabelRule[] = [{ streams: undefined, fields, otherwise }];
    const shared = fields.filter((field) => this.#naming.labelOf(field, true) !== undefined);
    const otlp = shared.length < fields.length ? this.otlpStreams : undefined;
    if (otlp !== undefined) rules.unshift({ streams: otlp, fields: shared, otherwise });
    if (name !== serviceNameLabel) return rules;
    const aggregates = aggregateLabels.filter((label) => this.#stored.includes(label));
    if (aggregates.length === 0) return rules;
    // Exported streams have no such labels.
    const groups = aggregates.map((label) => [matcher(label, '!=', '')]);
    const own = this.#naming.fieldsOf(name, this.#stored);
    return [{ streams: { kind: 'stream', groups }, fields: own, otherwise: '' }, ...rules];
  }

  #streamsOf({ streams }: LabelRule, rules: readonly LabelRule[]): LogsqlFilter {
    if (streams !== undefined) return streams;
    return and(...rules.flatMap((other) => (other.streams === undefined ? [] : [not(other.streams)])));
  }
}

/** Intersection of the filters. Plain stream selectors are joined in one pair of braces, which the backend's index evaluates together. */
export function joinStreams(filters: readonly LogsqlFilter[]): LogsqlFilter {
  const together: StreamMatcher[] = [];
  const others: LogsqlFilter[] = [];
  for (const filter of filters) {
    const [group, another] = filter.kind === 'stream' ? filter.groups : [];
    if (group !== undefined && another === undefined) together.push(...group);
    else others.push(filter);
  }
  const ofStreams = others.filter(isOfStreams);
  const ofRows = others.filter((filter) => !isOfStreams(filter));
  const first: readonly LogsqlFilter[] =
    together.length === 0 ? [] : [{ kind: 'stream', groups: [together] }];
  return and(...first, ...ofStreams, ...ofRows);
}

/**
 * Matches streams in which the value given by a rule passes. If streams without any of the fields pass a negated comparison, the filter is
 * the complement of the failing ones: otherwise the index would list nearly all streams.
 */
function firstPasses(rule: LabelRule, { op, value }: Pick<Comparison, 'op' | 'value'>): LogsqlFilter {
  const { fields, otherwise } = rule;
  const passesOtherwise = matchesText({ op, value }, otherwise);
  if (passesOtherwise && (op === '!=' || op === '!~'))
    return not(firstPasses(rule, { op: op === '!=' ? '=' : '=~', value }));
  const passesEmpty = matchesText({ op, value }, '');
  const passesAny = passesAnyText({ op, value });
  if (passesOtherwise && (passesAny || fields.length === 0)) return everything;
  const groups = fields.map((field, index) => [
    ...(passesAny ? [] : fields.slice(0, index).map((before) => matcher(before, '=', ''))),
    wholeMatcher(field, op, value),
    ...(passesEmpty ? [matcher(field, '!=', '')] : []),
  ]);
  const found = op === '=' && value === '' ? [] : groups;
  const without = fields.map((field) => matcher(field, '=', ''));
  const all = passesOtherwise ? [...found, without] : found;
  return all.length === 0 ? nothing : { kind: 'stream', groups: all };
}

function withoutFields(fields: readonly string[]): LogsqlFilter {
  return fields.length === 0
    ? everything
    : { kind: 'stream', groups: [fields.map((field) => matcher(field, '=', ''))] };
}

function otlpStreamsAmong(stored: readonly string[]): LogsqlFilter | undefined {
  const chosen = stored.filter(isChosenField).map((field) => matcher(field, '=', ''));
  const groups = stored.filter(isOtlpField).map((field) => [matcher(field, '!=', ''), ...chosen]);
  return groups.length === 0 ? undefined : { kind: 'stream', groups };
}
