import type { ArgNode, PipeNode, TemplateList } from '../template/ast.js';
import { exceeded, formatLimits } from '../template/exec/limits.js';
import { compileTemplate } from '../template/index.js';
import type { Rendered } from '../template/compile.js';
import { parseTemplate } from '../template/parse.js';
import type { Meter } from './meter.js';
import { errorDetailsLabel, errorLabel } from './types.js';
import type { WorkLine } from './work-line.js';

export const templateError = 'TemplateFormatErr';

/** A stage's template; it returns its text for the current line, or the reason why it has none. */
export type StageTemplate = (work: WorkLine) => Rendered;

/** The text, or undefined for a template that failed, which marks the line with an error. */
export function renderedText(work: WorkLine, rendered: Rendered): string | undefined {
  if ('text' in rendered) return rendered.text;
  work.fail(templateError, rendered.error);
  return undefined;
}

/**
 * Compiles a template of `line_format` or `label_format`.
 * @throws TemplateSyntaxError
 * @throws ApiError `lineFormatLimit` for a template beyond the limits; the returned function throws it for a text beyond them
 */
export function compileStageTemplate(text: string, name: 'line' | 'label', meter: Meter): StageTemplate {
  const template = compileTemplate(text, name, meter);
  let current: WorkLine | undefined;
  const label = (wanted: string): string | undefined => current && valueFor(current, wanted);
  const list = (): readonly (readonly [string, string])[] => (current === undefined ? [] : valuesOf(current));
  return (work) => {
    current = work;
    const rendered = template.render(label, work.line, work.timestampNs, list);
    if ('text' in rendered) {
      work.formatted += rendered.text.length;
      if (work.formatted > formatLimits.lineOutput) exceeded('output');
    }
    return rendered;
  };
}

/** In templates, errors are labels, and take precedence over labels of the same name. */
function valueFor(work: WorkLine, name: string): string | undefined {
  if (name === errorLabel && work.error !== '') return work.error;
  if (name === errorDetailsLabel && work.shownDetails !== '') return work.shownDetails;
  const slot = work.slots.known(name);
  return slot === undefined ? undefined : work.get(slot);
}

/** The labels that a template can range over. */
function valuesOf(work: WorkLine): readonly (readonly [string, string])[] {
  const values = new Map<string, string>();
  for (const slot of work.visible()) values.set(slot.name, work.get(slot) ?? '');
  if (work.error !== '') values.set(errorLabel, work.error);
  if (work.shownDetails !== '') values.set(errorDetailsLabel, work.shownDetails);
  return [...values];
}

/**
 * The fields that a template names. Loki considers only these labels as used: not those used through `index`, a variable, a defined
 * template or the dot as a whole. In a chain of fields it takes every name for a label.
 * @throws TemplateSyntaxError
 */
export function templateFields(text: string, name: 'line' | 'label'): readonly string[] {
  const names = new Set<string>();
  addList(parseTemplate(text, name).body, names);
  return [...names];
}

function addList(list: TemplateList, names: Set<string>): void {
  for (const node of list) {
    switch (node.kind) {
      case 'action':
        addPipe(node.pipe, names);
        break;
      case 'if':
      case 'with':
      case 'range':
        addPipe(node.pipe, names);
        addList(node.list, names);
        if (node.elseList !== undefined) addList(node.elseList, names);
        break;
      case 'template':
      case 'text':
      case 'break':
      case 'continue':
    }
  }
}

function addPipe({ commands }: PipeNode, names: Set<string>): void {
  for (const { args } of commands) for (const arg of args) addArg(arg, names);
}

function addArg(arg: ArgNode, names: Set<string>): void {
  if (arg.kind === 'field') for (const field of arg.names) names.add(field);
  if (arg.kind === 'pipe') addPipe(arg, names);
}
