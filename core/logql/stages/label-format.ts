import type { LabelFormat, LabelFormatStage } from '../ast.js';
import type { Rendered } from '../template/compile.js';
import type { Meter, RunStage, WorkLine } from '../pipeline/work-line.js';
import type { SlotTable, Slot } from '../pipeline/slot.js';
import {
  compileStageTemplate,
  determiningLabels,
  templateFields,
  renderedText,
  type StageTemplate,
} from '../pipeline/template.js';
import { parseTemplate } from '../template/parse.js';
import { quoteGo } from '../../base/label-set.js';
import { stageFault } from '../check/faults.js';
import { append, grammar, stageWord, token } from '../syntax/tokens.js';
import { stage } from '../syntax/log-rules.js';
import { type StageDescriptor, usualTraits } from './stage.js';

/** `| label_format` */
export const labelFormat: StageDescriptor<LabelFormatStage> = {
  ...usualTraits,
  word: 'label_format',
  addRules,
  print: ({ assignments }) =>
    `| label_format ${assignments.map((made) => `${made.name}=${made.kind === 'rename' ? made.source : quoteGo(made.template)}`).join(',')}`,
  checks: ({ assignments }) => [
    () => namesFault(assignments),
    ...assignments.map((made) => () => templateFault(made)),
  ],
  size: ({ assignments }) => ({ formattedLabels: assignments.length }),
  rename: (made, nameOf) => ({
    ...made,
    assignments: made.assignments.map((one) =>
      one.kind === 'rename'
        ? { ...one, name: nameOf(one.name), source: nameOf(one.source) }
        : { ...one, name: nameOf(one.name) },
    ),
  }),
  makes: ({ assignments }) => assignments.map(({ name }) => name),
  loses: ({ assignments }) => assignments.flatMap((one) => (one.kind === 'rename' ? [one.source] : [])),
  errors: (made) => (onlyRenames(made) ? 'kept' : 'made'),
  compile: ({ assignments }, { slots, meter }) => compileLabelFormat(assignments, slots, meter),
  hintedNames: ({ assignments }) =>
    assignments.flatMap((one) =>
      one.kind === 'rename' ? [one.source] : templateFields(one.template, 'label'),
    ),
  names: (made) => involvedNames(made) ?? 'all',
  groupNames: involvedNames,
  whyHere: 'labelRewrite',
};

function addRules(): void {
  const { identifier, string, equal, comma } = token;
  const assignment = grammar.nonterminal<LabelFormat>('assignment');
  const assignments = grammar.nonterminal<LabelFormat[]>('assignments');
  grammar.rule(stage)([stageWord('label_format'), assignments], ([, list], span) => ({
    kind: 'label-format',
    assignments: list,
    span,
  }));
  grammar.rule(assignment)([identifier, equal, identifier], ([name, , source], span) => ({
    kind: 'rename',
    name,
    source,
    span,
  }));
  grammar.rule(assignment)([identifier, equal, string], ([name, , template], span) => ({
    kind: 'template',
    name,
    template,
    span,
  }));
  grammar.rule(assignments)([assignment], ([first]) => [first]);
  grammar.rule(assignments)([assignments, comma, assignment], ([list, , next]) => append(list, next));
  // Parsing continues after an error here: an invalid regexp further right is reported instead.
  grammar.rule(assignments)([assignments, comma, grammar.error], ([list]) => list);
}

function namesFault(assignments: readonly LabelFormat[]): string | undefined {
  const seen = new Set<string>();
  for (const { name } of assignments) {
    if (name === '__error__') return `${name} cannot be formatted`;
    if (seen.has(name)) return `multiple label name '${name}' not allowed in a single format operation`;
    seen.add(name);
  }
  return undefined;
}

function templateFault(made: LabelFormat): string | undefined {
  if (made.kind === 'rename') return undefined;
  const fault = stageFault(() => parseTemplate(made.template, 'label'));
  return fault === undefined ? undefined : `invalid template for label '${made.name}': ${fault}`;
}

function onlyRenames({ assignments }: LabelFormatStage): boolean {
  return assignments.every(({ kind }) => kind === 'rename');
}

/**
 * The labels that a stage reads or makes; undefined if they do not determine its results. All templates read the labels as they were before
 * the first of them, but only if a line has labels at all: a group of lines may have fewer.
 */
function involvedNames({ assignments }: LabelFormatStage): readonly string[] | undefined {
  const names = new Set<string>();
  const changed = new Set<string>();
  let hasTemplate = false;
  for (const one of assignments) {
    const read = one.kind === 'rename' ? [one.source] : determiningLabels(one.template, 'label');
    if (read === undefined) return undefined;
    if (one.kind === 'template') {
      if (hasTemplate && read.some((name) => changed.has(name))) return undefined;
      hasTemplate = true;
    }
    for (const name of one.kind === 'rename' ? [one.name, one.source] : [one.name]) changed.add(name);
    for (const name of [one.name, ...read]) names.add(name);
  }
  return [...names];
}

interface Rename {
  readonly kind: 'rename';
  readonly target: Slot;
  readonly source: Slot;
}

interface Render {
  readonly kind: 'render';
  readonly target: Slot;
  readonly render: StageTemplate;
}

/**
 * `| label_format`: renames happen one after another. All templates read the labels as they are when the first template runs, so their
 * texts are computed together.
 */
function compileLabelFormat(assignments: readonly LabelFormat[], slots: SlotTable, meter: Meter): RunStage {
  const steps = assignments.map((made): Rename | Render => {
    const target = slots.pin(made.name);
    return made.kind === 'rename'
      ? { kind: 'rename', target, source: slots.pin(made.source) }
      : { kind: 'render', target, render: compileStageTemplate(made.template, 'label', meter) };
  });
  return (work) => {
    let results: readonly (Rendered | undefined)[] | undefined;
    for (const [index, step] of steps.entries()) {
      if (step.kind === 'rename') {
        rename(work, step);
        continue;
      }
      // On a line without labels, each template is rendered separately until one of them has made a label.
      if (results === undefined && work.hasLabels) {
        results = steps.map((later, place) =>
          later.kind === 'render' && place >= index ? later.render(work) : undefined,
        );
      }
      const text = renderedText(work, results?.[index] ?? step.render(work));
      if (text !== undefined) work.set(step.target, text);
    }
    return true;
  };
}

function rename(work: WorkLine, { target, source }: Rename): void {
  const value = work.get(source);
  if (value === undefined) return;
  work.set(target, value);
  work.delete(source);
}
