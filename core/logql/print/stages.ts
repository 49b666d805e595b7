import type { Selector, Stage, Unwrap } from '../ast.js';
import { descriptorOf } from '../stages/index.js';
import { printMatcher } from './label-filter.js';

export function printSelector({ matchers }: Pick<Selector, 'matchers'>): string {
  return `{${matchers.map(printMatcher).join(', ')}}`;
}

/** Prints one stage with its leading operator or pipe. */
export function printStage(stage: Stage): string {
  return descriptorOf(stage).print(stage);
}

/** The unwrap stage and the filters after it, one text each. */
export function printUnwrap({ name, conversion, filters }: Unwrap): readonly string[] {
  const value = conversion === undefined ? name : `${conversion}(${name})`;
  return [`| unwrap ${value}`, ...filters.map(printStage)];
}

/** Loki joins adjacent line filters into one stage: they are printed on one line and named together in errors. */
export function groupStages(stages: readonly Stage[]): readonly (readonly Stage[])[] {
  const groups: Stage[][] = [];
  for (const stage of stages) {
    const group = groups.at(-1);
    const isJoined = group?.[0]?.kind === stage.kind && typeof descriptorOf(stage).layout === 'object';
    if (isJoined) group.push(stage);
    else groups.push([stage]);
  }
  return groups;
}

export function printStages(stages: readonly Stage[]): string {
  return stages.map(printStage).join(' ');
}
