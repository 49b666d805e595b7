import type { Selector, Stage, Unwrap } from '../ast.js';
import type { RunStage } from '../pipeline/work-line.js';
import { labelFilter, printMatcher } from './label-filter.js';
import { decolorizeStage } from './decolorize.js';
import { drop } from './drop.js';
import { json } from './json/index.js';
import { keep } from './keep.js';
import { labelFormat } from './label-format.js';
import { lineFilter } from './line-filter.js';
import { lineFormat } from './line-format.js';
import { logfmt } from './logfmt.js';
import { pattern } from './pattern.js';
import { regexp } from './regexp.js';
import type { CompileContext, StageDescriptor } from './stage.js';
import { unpack } from './unpack.js';

/** Every stage of LogQL. */
export const stageDescriptors: {
  readonly [Kind in Stage['kind']]: StageDescriptor<Extract<Stage, { readonly kind: Kind }>>;
} = {
  'line-filter': lineFilter,
  'label-filter': labelFilter,
  json,
  logfmt,
  regexp,
  pattern,
  'line-format': lineFormat,
  decolorize: decolorizeStage,
  unpack,
  'label-format': labelFormat,
  drop,
  keep,
};

/** The descriptor of a stage's kind. */
export function descriptorOf<S extends Stage>(stage: S): StageDescriptor<S> {
  return stageDescriptors[stage.kind] as StageDescriptor<S>;
}

/** Compiles a stage (see `compile` of StageDescriptor). */
export function compileStage(stage: Stage, context: CompileContext): RunStage {
  return descriptorOf(stage).compile(stage, context);
}

/** True if a stage reads a label whose name passes the test. */
export function looksAt(stage: Stage, test: (name: string) => boolean): boolean {
  const names = descriptorOf(stage).names(stage);
  return names === 'all' || names.some(test);
}

/** True when a node of a tree is a stage. */
export function isStage(node: { readonly kind: string }): node is Stage {
  return Object.hasOwn(stageDescriptors, node.kind);
}

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
