import { doAll, type Steps } from '../../base/pace/steps.js';
import type { Expr, MetricExpr, Stage } from '../ast.js';
import { errorAt } from '../error.js';
import { dropUnusedLineFormats, orderStages } from '../pipeline/output.js';
import { descriptorOf, groupStages, printStages } from '../stages/index.js';
import { sharingBudget } from '../regexp/index.js';
import { nothing } from '../stages/stage.js';

/** Stages and parts of stages checked per step. */
const stepParts = 50;

/**
 * Checks that every stage of a query can be compiled, which Loki does only when it runs the query on data.
 * @throws LogqlError with Loki's text
 */
export function checkStages(expr: Expr): void {
  doAll(checkSteps(expr));
}

/** As `checkStages`, in steps, for long queries. */
export function checkSteps(expr: Expr): Steps<void> {
  return sharingBudget(checkAll(expr));
}

function* checkAll(expr: Expr): Steps<void> {
  let checked = 0;
  const pipelines = pipelinesOf(expr);
  checkStageLimits(pipelines.flat());
  for (const stages of pipelines) {
    for (const group of groupStages(orderStages(stages))) {
      // The last of adjacent line filters is compiled first.
      for (const stage of group.toReversed()) {
        for (const check of [nothing, ...descriptorOf(stage).checks(stage)]) {
          const fault = check();
          checked += 1;
          if (checked % stepParts === 0) yield;
          if (fault !== undefined) throw errorAt(`stage '${printStages(group)}' : ${fault}`);
        }
      }
    }
  }
}

/** The pipelines of a query from left to right, in execution order. */
function pipelinesOf(expr: Expr): (readonly Stage[])[] {
  if (expr.kind === 'log') return [expr.stages];
  const found: (readonly Stage[])[] = [];
  const pending: MetricExpr[] = [expr];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    switch (next.kind) {
      case 'range-aggregation':
        found.push(dropUnusedLineFormats(next));
        break;
      case 'vector-aggregation':
      case 'label-replace':
        pending.push(next.expr);
        break;
      case 'binary':
        pending.push(next.right, next.left);
        break;
      case 'vector':
      case 'literal':
        break;
    }
  }
  return found;
}

/**
 * Maximum number of alternatives (`a|b|c`, `"a" or "b"`) in all line and label filters of a query, and of labels that its `label_format`
 * stages make. Each is visited several times in one turn of the event loop, when a query is planned and when its pipeline is built: at this
 * limit that takes some 10 ms, and 30 ms in a process that has just started.
 */
const maxAlternatives = 2_000;
const maxFormattedLabels = 500;

/**
 * Refuses queries whose stages would block the event loop.
 * @throws LogqlError
 */
function checkStageLimits(stages: Iterable<Stage>): void {
  let alternatives = 0;
  let labels = 0;
  for (const stage of stages) {
    const size = descriptorOf(stage).size(stage);
    alternatives += size.alternatives ?? 0;
    labels += size.formattedLabels ?? 0;
  }
  if (alternatives > maxAlternatives)
    throw errorAt(
      `the filters of a query may have at most ${maxAlternatives} alternatives in total, and this query has ${alternatives}`,
    );
  if (labels > maxFormattedLabels)
    throw errorAt(
      `label_format may create at most ${maxFormattedLabels} labels in a query, and this query creates ${labels}`,
    );
}
