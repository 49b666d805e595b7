import type { ArgNode, PipeNode, TemplateList } from '../template/ast.js';
import { exceeded, formatLimits } from '../template/exec/limits.js';
import { compileTemplate } from '../template/index.js';
import type { Rendered } from '../template/compile.js';
import { parseTemplate } from '../template/parse.js';
import type { Meter, WorkLine } from './work-line.js';
import { errorDetailsLabel, errorLabel } from './types.js';

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
  const fields = [...argsIn(parseTemplate(text, name).body)];
  return [...new Set(fields.flatMap((arg) => (arg.kind === 'field' ? arg.names : [])))];
}

/** Functions with other results for two rows with the same labels. */
const rowFunctions: ReadonlySet<string> = new Set(['__line__', '__timestamp__', 'now']);

/**
 * The labels that determine the text of a template, all of which Loki considers as used; undefined if more than these matter: the line, a
 * time, all labels together, or an error of an earlier stage.
 * @throws TemplateSyntaxError
 */
export function determiningLabels(text: string, name: 'line' | 'label'): readonly string[] | undefined {
  const { body, definitions } = parseTemplate(text, name);
  if (definitions.size > 0) return undefined;
  const names = new Set<string>();
  for (const arg of argsIn(body)) {
    if (arg.kind === 'dot' || arg.kind === 'chain') return undefined;
    if (arg.kind === 'variable' && arg.name === '$') return undefined;
    if (arg.kind === 'identifier' && rowFunctions.has(arg.name)) return undefined;
    if (arg.kind === 'field') for (const field of arg.names) names.add(field);
  }
  return names.has(errorLabel) || names.has(errorDetailsLabel) ? undefined : [...names];
}

/** All arguments of a template's commands, except those within the base of a chain. */
function* argsIn(list: TemplateList): Iterable<ArgNode> {
  for (const node of list) {
    if ('pipe' in node && node.pipe !== undefined && node.kind !== 'template') yield* argsOfPipe(node.pipe);
    if (!('list' in node)) continue;
    yield* argsIn(node.list);
    yield* argsIn(node.elseList ?? []);
  }
}

function* argsOfPipe({ commands }: PipeNode): Iterable<ArgNode> {
  for (const { args } of commands)
    for (const arg of args) {
      yield arg;
      if (arg.kind === 'pipe') yield* argsOfPipe(arg);
    }
}
