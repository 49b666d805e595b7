import type { Expr, LogExpr, LogfmtStage, MetricExpr, RangeAggregation, Stage } from '../../logql/ast.js';
import { pushedGrouping } from '../../logql/pipeline/extractor.js';
import { withStages } from '../../logql/pipeline/output.js';
import { descriptorOf, looksAt } from '../../logql/stages/index.js';
import { mapLogQueries, mapMetric } from '../../logql/walk.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import { rewritingRule } from './savings.js';

/** `| logfmt a, b` in a metric query, which the backend does not count. */
export const namedFields = rewritingRule(
  { id: 'named-fields', title: 'A metric query names the fields of a parser', answers: 'other' },
  'The backend counts by labels of | logfmt, but not by those of | logfmt with several names. Answers are the same where lines have each of the keys; a missing one makes no label then.',
  (expr) => (expr.kind === 'log' ? expr : mapLogQueries(expr, { log: withAllFields })),
);

function withAllFields(query: LogExpr): LogExpr {
  const stages = query.stages.map((stage) =>
    stage.kind === 'logfmt' && namesTopFields(stage) ? { ...stage, params: [] } : stage,
  );
  return { ...query, stages };
}

function namesTopFields({ params }: LogfmtStage): boolean {
  return params.length > 1 && params.every(({ name, path }) => name === path && /^[A-Za-z]\w*$/.test(name));
}

const level = 'level';

/** Counts by a level that a parser takes from the line, although the backend finds levels by itself. */
export const levelFromLine = rewritingRule(
  { id: 'level-from-line', title: 'A metric query parses lines only for their level', answers: 'other' },
  'Every line is parsed for its level. Entries have detected_level, by which the backend counts. Its values are fatal, critical, error, warn, info, debug, trace and unknown, however the line spells them.',
  byDetectedLevel,
);

function byDetectedLevel(expr: Expr): Expr {
  if (expr.kind === 'log') return expr;
  return mapMetric(expr, (node): MetricExpr => {
    if (node.kind !== 'vector-aggregation' || node.expr.kind !== 'range-aggregation') return node;
    // Any other aggregation sees the series by all their labels.
    const grouping = pushedGrouping(node);
    if (grouping === undefined || grouping.without) return node;
    const range = withoutParsers(node.expr, grouping.labels);
    if (range === undefined) return node;
    const labels = grouping.labels.map(renamed);
    return { ...node, grouping: node.grouping && { ...node.grouping, labels }, expr: range };
  });
}

function renamed(name: string): string {
  return name === level ? detectedLevelName : name;
}

/** A range aggregation without parsers that only make the level, which is read under its other name; undefined for any other. */
function withoutParsers(range: RangeAggregation, labels: readonly string[]): RangeAggregation | undefined {
  const { query, unwrap } = range.range;
  if (unwrap !== undefined || range.grouping !== undefined) return undefined;
  const isParser = (stage: Stage): boolean => descriptorOf(stage).source(stage) !== undefined;
  const others = query.stages.filter((stage) => !isParser(stage));
  const readsLevel =
    labels.includes(level) || others.some((stage) => looksAt(stage, (name) => name === level));
  const inSelector = new Set(query.selector.matchers.map(({ name }) => name));
  // Any other label may come from the line.
  const isOther = (name: string): boolean => name !== level && !inSelector.has(name);
  const readsOthers = labels.some(isOther) || others.some((stage) => looksAt(stage, isOther));
  if (!readsLevel || readsOthers || inSelector.has(level) || others.length === query.stages.length)
    return undefined;
  if (others.some((stage) => stage.kind === 'label-format')) return undefined;
  return withStages(
    range,
    others.map((stage) => descriptorOf(stage).rename(stage, renamed)),
  );
}
