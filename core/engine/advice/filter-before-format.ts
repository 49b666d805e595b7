import type { Expr, LabelFilterStage, LineFilterStage, LogExpr, Stage } from '../../logql/ast.js';
import { logQueriesOf, mapLogQueries } from '../../logql/walk.js';
import { quotedTexts } from '../../logql/pipeline/filter-test.js';
import { copiedLabel } from '../../logql/stages/line-format.js';
import { rewritingRule } from './savings.js';

/** A line filter behind a `line_format` that copies one label, as a filter on that label. */
export const filterBeforeFormat = rewritingRule(
  {
    id: 'filter-before-format',
    title: 'A line filter searches what line_format took from one label',
    answers: 'same',
  },
  'A line filter behind line_format runs here, on every line of the selection. A filter on the label that the line is made of lets the backend search for its text.',
  filtersFirst,
);

function filtersFirst(expr: Expr): Expr {
  if (logQueriesOf(expr).every((query) => withFiltersFirst(query) === query)) return expr;
  return mapLogQueries(expr, { log: withFiltersFirst });
}

function withFiltersFirst(query: LogExpr): LogExpr {
  const isMoved = (index: number): boolean => toLabelFilter(query.stages, index) !== undefined;
  if (!query.stages.some((_, index) => isMoved(index))) return query;
  const stages = query.stages.flatMap((stage, index) => {
    if (stage.kind === 'line-format') return [...filtersBehind(query, index), stage];
    return isMoved(index) ? [] : [stage];
  });
  return { ...query, stages };
}

/** The line filters right behind a stage that can move before it. */
function filtersBehind({ stages }: LogExpr, at: number): readonly Stage[] {
  const found: Stage[] = [];
  for (let index = at + 1; stages[index]?.kind === 'line-filter'; index += 1) {
    const moved = toLabelFilter(stages, index);
    if (moved !== undefined) found.push(moved);
  }
  return found;
}

/** The label whose value is the line that a line filter sees, if a `line_format` stands right before it and other line filters. */
function formatBefore(stages: readonly Stage[], at: number): string | undefined {
  let index = at - 1;
  while (stages[index]?.kind === 'line-filter') index -= 1;
  const stage = stages[index];
  const name = stage?.kind === 'line-format' ? copiedLabel(stage) : undefined;
  return name === undefined || name.startsWith('_') ? undefined : name;
}

function toLabelFilter(stages: readonly Stage[], at: number): LabelFilterStage | undefined {
  const [stage, name] = [stages[at], formatBefore(stages, at)];
  if (stage?.kind !== 'line-filter' || name === undefined) return undefined;
  const texts = textsOfFilter(stage);
  if (texts === undefined) return undefined;
  const { span } = stage;
  const pattern = quotedTexts(texts);
  const value = texts.length === 1 ? `(?s).*${pattern}.*` : `(?s).*(?:${pattern}).*`;
  return { kind: 'label-filter', span, filter: { kind: 'string', name, op: '=~', value, span } };
}

/** The texts of which a line must contain one; undefined for other filters. */
function textsOfFilter({ op, alternatives }: LineFilterStage): readonly string[] | undefined {
  if (op !== '|=' || alternatives.some(({ kind, value }) => kind !== 'text' || value === ''))
    return undefined;
  return alternatives.map(({ value }) => value);
}
