import { LabelSet } from '../base/label-set.js';
import type { Expr, MetricExpr, RangeAggregation, Selector } from './ast.js';
import { checkStages } from './check/stages.js';
import { parseQuery } from './parse.js';
import { compilePipeline } from './pipeline/output.js';
import { compileSampleReader, pushedGrouping } from './pipeline/extractor.js';
import { compileMatcherTest } from './pipeline/filter-test.js';
import type { PipelineEntry } from './pipeline/types.js';
import { visit, type AstNode } from './walk.js';

/** Labels by name; a record's empty values are labels that are missing. */
export type Labels = LabelSet | Readonly<Record<string, string>>;

/** A log entry, with its labels as sets or as plain records. */
export interface EntryToEvaluate {
  /** Index labels. */
  readonly stream: Labels;
  readonly structuredMetadata?: Labels;
  /** Only templates show it; 0 when left out. */
  readonly timestampNs?: bigint;
  readonly line: string;
}

/** The result of a query for one entry; empty when the query does not keep it. */
export interface EvaluatedEntry {
  readonly kept: boolean;
  readonly line: string;
  /** All labels; for a metric query, those of the sample. */
  readonly labels: LabelSet;
  readonly groups: {
    readonly stream: LabelSet;
    readonly structuredMetadata: LabelSet;
    readonly parsed: LabelSet;
  };
  /** The value that a metric query reads from the entry. */
  readonly sample?: number;
}

type Evaluate = (entry: PipelineEntry) => EvaluatedEntry;

const compiled = new WeakMap<Expr, Evaluate>();

/**
 * Runs one entry through a query: selector, stages and, for a metric query, the sample extraction of its first range aggregation. A parsed
 * query is compiled on first use and cached as long as it lives.
 * @throws LogqlError with Loki's text for a query that cannot be parsed, or has a stage that cannot be built
 */
export function evaluateEntry(query: Expr | string, entry: EntryToEvaluate): EvaluatedEntry {
  const expr = typeof query === 'string' ? parseQuery(query) : query;
  let evaluate = compiled.get(expr);
  if (evaluate === undefined) compiled.set(expr, (evaluate = compile(expr)));
  const { stream, structuredMetadata = LabelSet.empty, timestampNs = 0n, line } = entry;
  return evaluate({
    stream: setOf(stream),
    structuredMetadata: setOf(structuredMetadata),
    timestampNs,
    line,
  });
}

function setOf(labels: Labels): LabelSet {
  if (labels instanceof LabelSet) return labels;
  return LabelSet.from(Object.entries(labels).filter(([, value]) => value !== ''));
}

function compile(expr: Expr): Evaluate {
  checkStages(expr);
  if (expr.kind === 'log') {
    const selects = compileSelector(expr.selector);
    const pipeline = compilePipeline(expr.stages);
    return (entry) => {
      const result = selects(entry.stream) ? pipeline(entry) : undefined;
      if (result === undefined) return notKept;
      const { line, ...groups } = result;
      return { kept: true, line, labels: merge(groups), groups };
    };
  }
  const range = firstRange(expr);
  if (range === undefined) return () => notKept;
  const selects = compileSelector(range.aggregation.range.query.selector);
  const { work, output, isGrouped, readValue, seriesLabels } = compileSampleReader(
    range.aggregation,
    range.pushed,
  );
  return (entry) => {
    const sample = selects(entry.stream) ? readValue(entry) : undefined;
    if (sample === undefined) return notKept;
    if (isGrouped && work.error === '') {
      const labels = seriesLabels(work);
      return { kept: true, line: entry.line, labels, groups: { ...noGroups, stream: labels }, sample };
    }
    const { stream, structuredMetadata, parsed } = output.line(work, entry);
    const groups = { stream, structuredMetadata, parsed };
    return { kept: true, line: entry.line, labels: merge(groups), groups, sample };
  };
}

const noGroups: EvaluatedEntry['groups'] = {
  stream: LabelSet.empty,
  structuredMetadata: LabelSet.empty,
  parsed: LabelSet.empty,
};
const notKept: EvaluatedEntry = { kept: false, line: '', labels: LabelSet.empty, groups: noGroups };

function merge({ stream, structuredMetadata, parsed }: EvaluatedEntry['groups']): LabelSet {
  const isStreamAlone = structuredMetadata.size === 0 && parsed.size === 0;
  return isStreamAlone ? stream : stream.with([...structuredMetadata.labels, ...parsed.labels]);
}

function compileSelector({ matchers }: Selector): (stream: LabelSet) => boolean {
  const tests = matchers.map(({ name, op, value }) => ({ name, test: compileMatcherTest(op, value) }));
  return (stream) => tests.every(({ name, test }) => test(stream.get(name)));
}

interface FoundRange {
  readonly aggregation: RangeAggregation;
  readonly pushed: ReturnType<typeof pushedGrouping>;
}

/** The first range aggregation from the left, with the grouping that surrounding aggregations give its samples. */
function firstRange(expr: MetricExpr): FoundRange | undefined {
  let found: FoundRange | undefined;
  let parent: AstNode | undefined;
  visit(expr, (node) => {
    if (node.kind === 'range-aggregation') {
      const pushed = parent?.kind === 'vector-aggregation' ? pushedGrouping(parent) : undefined;
      found ??= { aggregation: node, pushed };
    }
    parent = node;
  });
  return found;
}
