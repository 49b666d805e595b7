import type { Stage } from '../ast.js';
import { descriptorOf } from '../stages/index.js';

/**
 * The order in which Loki runs stages: line filters move before stages that, to Loki's knowledge, do not change the line, back to the last
 * one that does (`order` of a descriptor).
 */
export function orderStages(stages: readonly Stage[]): readonly Stage[] {
  const ordered: Stage[] = [];
  let filters: Stage[] = [];
  let others: Stage[] = [];
  const flush = (): void => {
    ordered.push(...filters, ...others);
    filters = [];
    others = [];
  };
  for (const stage of stages) {
    const { order } = descriptorOf(stage);
    if (order === 'filter') filters.push(stage);
    else others.push(stage);
    if (order === 'barrier') flush();
  }
  flush();
  return ordered;
}
