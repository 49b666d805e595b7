import type { Template, TemplateList } from './ast.js';
import { inspect } from './exec/inspect.js';
import { exceeded, formatLimits } from './exec/limits.js';
import { compileList, type Execute } from './exec/nodes.js';
import { TemplateRun, TemplateFault } from './exec/run.js';
import { Meter } from '../pipeline/work-line.js';
import { parseTemplate } from './parse.js';
import { wellFormed } from '../values/raw-bytes.js';
import { LabelMap, type GetLabel, type ListLabels } from './values.js';

/** The formatted text, or Go's error: the line then stays unchanged, with `__error__="TemplateFormatErr"`. */
export type Rendered = { readonly text: string } | { readonly error: string };

/** A template, ready to format lines. */
export interface CompiledTemplate {
  /** Labels that it may read; `all` when it uses the dot as a whole, in which case `render` needs `list`. */
  readonly fields: ReadonlySet<string> | 'all';
  /**
   * Formats one line.
   * @param labels the value of a label, undefined for none
   * @param list all labels, error labels included
   * @throws ApiError `lineFormatLimit` when the line takes more than docs/protocol/errors-and-limits.md#formatting-of-lines allows
   */
  render(labels: GetLabel, line: string, timestampNs: bigint, list?: ListLabels): Rendered;
}

/**
 * Compiles a template of line_format, or of label_format with the name `label`, once for all lines.
 * @param meter is charged with what lines cost
 * @throws TemplateSyntaxError with Go's text
 * @throws ApiError `lineFormatLimit` for a template with too many nodes or too deep nesting
 */
export function compileTemplate(
  text: string,
  name: 'line' | 'label' = 'line',
  meter = new Meter(),
): CompiledTemplate {
  const template = withOwnName(parseTemplate(text, name), name);
  const { nodes, fields } = inspect(template);
  if (nodes > formatLimits.nodes) exceeded('syntax');
  const plain = plainTemplate(template);
  if (plain !== undefined) return { fields, render: (labels) => ({ text: renderPlain(plain, labels) }) };
  const execute = compileBodies(template, text, name);
  const source = { file: name, source: text, meter };
  return {
    fields,
    render: (labels, line, timestampNs, list = () => []) =>
      rendered(new TemplateRun(source, new LabelMap(labels, list), line, timestampNs), execute),
  };
}

/** A definition may have the template's own name and then replaces its body. */
function withOwnName(template: Template, name: string): Template {
  const own = template.definitions.get(name);
  const isEmpty = template.body.every((node) => node.kind === 'text' && node.text.trim() === '');
  return own !== undefined && isEmpty ? { ...template, body: own } : template;
}

function compileBodies({ body, definitions }: Template, source: string, name: string): Execute {
  const compiled = new Map<string, Execute>();
  const compile = (list: TemplateList): Execute =>
    compileList(list, { source, depth: 0, definition: (called) => compiled.get(called) });
  for (const [called, list] of definitions) compiled.set(called, compile(list));
  const main = compile(body);
  compiled.set(name, main);
  return main;
}

function rendered(run: TemplateRun, execute: Execute): Rendered {
  run.declare('$', run.labels);
  try {
    execute(run, run.labels);
  } catch (error) {
    if (error instanceof TemplateFault) return { error: wellFormed(error.message) };
    throw error;
  }
  return { text: checkedOutput(wellFormed(run.text)) };
}

function renderPlain({ texts, names }: PlainTemplate, labels: GetLabel): string {
  let out = texts[0] ?? '';
  for (let index = 0; index < names.length; index++) {
    out += (labels(names[index] ?? '') ?? '') + (texts[index + 1] ?? '');
  }
  return checkedOutput(out);
}

/** A character of a string takes at most three bytes. */
function checkedOutput(text: string): string {
  const isSurelyShort = text.length * 3 <= formatLimits.output;
  if (!isSurelyShort && Buffer.byteLength(text) > formatLimits.output) exceeded('output');
  return text;
}

/** A template of texts and plain fields: `texts` has one more item than `names`. */
interface PlainTemplate {
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/** Most templates only insert labels into a text and need no evaluator. */
function plainTemplate({ body }: Template): PlainTemplate | undefined {
  const texts = [''];
  const names: string[] = [];
  for (const node of body) {
    if (node.kind === 'text') {
      texts.push((texts.pop() ?? '') + node.text);
      continue;
    }
    if (node.kind !== 'action' || node.pipe.declarations.length > 0 || node.pipe.commands.length !== 1)
      return undefined;
    const [word, ...others] = node.pipe.commands[0]?.args ?? [];
    if (word?.kind !== 'field' || others.length > 0 || word.names.length !== 1) return undefined;
    names.push(word.names[0] ?? '');
    texts.push('');
  }
  return { texts, names };
}
