import type { LabelFilter, LineFilterTerm, Stage } from '../ast.js';
import { errorAt } from '../error.js';

/**
 * The most alternatives (`a|b|c`, `"a" or "b"`) in all line and label filters of a query, and the most labels that its `label_format` stages
 * make. Each is looked at several times in one turn, when a query is planned and when its pipeline is built: some 10 ms for so many, 30 ms
 * in a process that has just started.
 */
export const maxAlternatives = 2_000;
export const maxFormattedLabels = 500;

/**
 * Refuses queries whose stages would hold the event loop.
 * @throws LogqlError
 */
export function checkStageLimits(stages: Iterable<Stage>): void {
  let alternatives = 0;
  let labels = 0;
  for (const stage of stages) {
    if (stage.kind === 'line-filter') alternatives += ofTerms(stage.alternatives);
    else if (stage.kind === 'label-filter') alternatives += ofFilter(stage.filter);
    else if (stage.kind === 'label-format') labels += stage.assignments.length;
  }
  if (alternatives > maxAlternatives)
    throw errorAt(
      `the filters of a query may have ${maxAlternatives} alternatives in all, and these have ${alternatives}`,
    );
  if (labels > maxFormattedLabels)
    throw errorAt(
      `label_format may make ${maxFormattedLabels} labels in all of a query, and this makes ${labels}`,
    );
}

function ofTerms(terms: readonly LineFilterTerm[]): number {
  return terms.reduce((sum, { value }) => sum + alternativesIn(value), 0);
}

function ofFilter(filter: LabelFilter): number {
  let sum = 0;
  const pending = [filter];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('left' in next) pending.push(next.left, next.right);
    else if (next.kind === 'string' && next.op.endsWith('~')) sum += alternativesIn(next.value);
  }
  return sum;
}

function alternativesIn(pattern: string): number {
  let count = 1;
  for (let at = pattern.indexOf('|'); at >= 0; at = pattern.indexOf('|', at + 1)) count += 1;
  return count;
}
