import type { Matcher } from '../../logql/ast.js';
import type { LogsqlFilter, StreamMatcher } from '../../victoria/logsql/ast.js';
import { and, everything, matcher, not, nothing, or } from '../../victoria/logsql/build.js';
import { isOfStreams } from '../../victoria/logsql/selection.js';
import type { Naming } from '../../victoria/names/naming.js';
import { isChosenField, isOtlpField } from '../../victoria/names/otlp-stream.js';
import { serviceNameLabel, unknownService } from '../../victoria/names/service-name.js';
import { aggregateLabels } from '../../victoria/names/stream-identity.js';
import { wholeMatcher } from './backend-pattern.js';
import { matchesText } from './matches-text.js';

type Comparison = Pick<Matcher, 'name' | 'op' | 'value'>;

/** The source of a label in some streams: the first of the fields that has a value, or a fixed value. */
interface LabelRule {
  /** Matches the streams of the rule; undefined for all streams without another rule. */
  readonly streams: LogsqlFilter | undefined;
  readonly fields: readonly string[];
  readonly otherwise: string;
}

/** A field, and the streams in which it becomes a label. */
export interface LabelSource {
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
    return or(...rules.map((rule) => and(this.#streamsOf(rule, rules), firstPasses(rule, { op, value }))));
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
  const groups = fields.map((field, index) => [
    ...fields.slice(0, index).map((before) => matcher(before, '=', '')),
    wholeMatcher(field, op, value),
    ...(passesEmpty ? [matcher(field, '!=', '')] : []),
  ]);
  const found = op === '=' && value === '' ? [] : groups;
  if (passesOtherwise && fields.length === 0) return everything;
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
