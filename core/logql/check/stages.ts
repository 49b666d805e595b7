import { doAll, type Steps } from '../../base/pace/steps.js';
import { sharingBudget } from '../regexp/index.js';
import type { Expr, MetricExpr, Stage } from '../ast.js';
import { errorAt } from '../error.js';
import { orderStages } from '../pipeline/line-order.js';
import { groupStages, printStages } from '../print/stages.js';
import { descriptorOf } from '../stages/index.js';
import { nothing } from '../stages/stage.js';
import { dropUnusedLineFormats } from './line-formats.js';
import { checkStageLimits } from './stage-limits.js';

/** Stages and parts of stages checked per step. */
const stepParts = 50;

/**
 * Checks that every stage of a query can be compiled, which Loki does only when it runs the query on data.
 * @throws LogqlError with Loki's text
 */
export function checkStages(expr: Expr): void {
  doAll(checkSteps(expr));
}

/** The same in steps, for long queries. */
export function checkSteps(expr: Expr): Steps<void> {
  return sharingBudget(checkAll(expr));
}

function* checkAll(expr: Expr): Steps<void> {
  let checked = 0;
  const pipelines = pipelinesOf(expr);
  checkStageLimits(pipelines.flat());
  for (const stages of pipelines) {
    for (const group of groupStages(orderStages(stages))) {
      // Of adjacent line filters the last one is made first.
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
