import type { Expr, Grouping, LogExpr, MetricExpr, RangeAggregation, Stage } from '../../logql/ast.js';
import { matchesEmpty } from '../../logql/index.js';
import { rangeFunctions } from '../../logql/functions/range/index.js';
import { pushedGrouping } from '../../logql/pipeline/extractor.js';
import { withStages } from '../../logql/pipeline/output.js';
import { descriptorOf, looksAt } from '../../logql/stages/index.js';
import { mapMetric } from '../../logql/walk.js';
import { rewritingRule } from './savings.js';

type Groups = Pick<Grouping, 'without' | 'labels'>;

/** Parsers and `label_format` in an aggregation whose labels nothing reads. Loki runs them; the planner cannot leave them out. */
export const unreadStage = rewritingRule(
  {
    id: 'unread-stage',
    title: 'A parser or label_format of a metric query makes labels that nothing reads',
    answers: 'same',
  },
  'A stage makes labels that neither the grouping nor another stage reads. Without it, fewer parts of the query run here. Lines that the stage cannot parse are no error any more.',
  withoutUnreadLabels,
);

function withoutUnreadLabels(expr: Expr): Expr {
  if (expr.kind === 'log') return expr;
  const change = (range: RangeAggregation, grouping: Groups | undefined): RangeAggregation =>
    grouping === undefined || grouping.without
      ? range
      : withStages(range, readStages(range, grouping.labels));
  return mapMetric(expr, (node): MetricExpr => {
    if (node.kind === 'range-aggregation')
      return rangeFunctions[node.op].ofNothing === undefined ? change(node, node.grouping) : node;
    if (node.kind !== 'vector-aggregation' || node.expr.kind !== 'range-aggregation') return node;
    const range = change(node.expr, pushedGrouping(node));
    return range === node.expr ? node : { ...node, expr: range };
  });
}

/** The stages whose labels are read, or that do more than make labels. */
function readStages({ range }: RangeAggregation, labels: readonly string[]): readonly Stage[] {
  const { query, unwrap } = range;
  const filters = unwrap?.filters ?? [];
  const sure = sureLabels(query);
  let kept = query.stages;
  for (const stage of query.stages.toReversed()) {
    const later: readonly Stage[] = [...kept.slice(kept.indexOf(stage) + 1), ...filters];
    const names = later.map((one) => descriptorOf(one).names(one));
    if (names.includes('all')) continue;
    const read = [...labels, ...names.flat(), ...(unwrap === undefined ? [] : [unwrap.name])];
    const others = kept.filter((one) => one !== stage);
    if (makesOnlyLabels(stage) && !maySee(stage, read, later, (name) => sure(name, others))) kept = others;
  }
  return kept;
}

function makesOnlyLabels(stage: Stage): boolean {
  const descriptor = descriptorOf(stage);
  const isMaker = descriptor.source(stage) !== undefined || stage.kind === 'label-format';
  return isMaker && descriptor.changesLine === 'no' && !descriptor.isFilter(stage);
}

/** True if what is read after a stage may depend on it. */
function maySee(
  stage: Stage,
  read: readonly string[],
  later: readonly Stage[],
  isSure: (name: string) => boolean,
): boolean {
  const descriptor = descriptorOf(stage);
  const seesErrors = (one: Stage): boolean =>
    descriptorOf(one).errors(one) === 'dropped' || looksAt(one, (name) => name.startsWith('__error'));
  if (descriptor.errors(stage) === 'made' && later.some(seesErrors)) return true;
  if (read.some((name) => name.startsWith('__'))) return true;
  const changed = [descriptor.makes(stage), descriptor.loses(stage)];
  if (changed.includes('all')) return !read.every(isSure);
  const names = new Set(changed.flat());
  // A label of a parser gets a suffix if the stream has one of the same name.
  return read.some((name) => names.has(name) || names.has(name.replace(/_extracted$/, '')));
}

/** Tells whether a label certainly comes from the stream, where a parser cannot replace it. */
function sureLabels({ selector }: LogExpr): (name: string, stages: readonly Stage[]) => boolean {
  const present = new Set(selector.matchers.filter((one) => !matchesEmpty(one)).map(({ name }) => name));
  const mayChange = (stage: Stage, name: string): boolean => {
    const descriptor = descriptorOf(stage);
    const lost = descriptor.loses(stage);
    if (lost === 'all' || lost.includes(name)) return true;
    const made = descriptor.makes(stage);
    return descriptor.source(stage) === undefined && (made === 'all' || made.includes(name));
  };
  return (name, stages) => present.has(name) && !stages.some((stage) => mayChange(stage, name));
}
