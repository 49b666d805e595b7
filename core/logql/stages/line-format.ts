import type { LineFormatStage } from '../ast.js';
import type { Template } from '../template/ast.js';
import { exceeded, formatLimits } from '../template/exec/limits.js';
import type { SlotTable } from '../pipeline/slot.js';
import type { Meter, RunStage } from '../pipeline/work-line.js';
import { parseTemplate } from '../template/parse.js';
import { compileStageTemplate, templateFields, renderedText } from '../pipeline/template.js';
import { quoteGo } from '../../base/label-set.js';
import { stageFault } from '../check/faults.js';
import { stage } from '../syntax/log-rules.js';
import { grammar, stageWord, token } from '../syntax/tokens.js';
import { type StageDescriptor, usualTraits } from './stage.js';

/** `| line_format` */
export const lineFormat: StageDescriptor<LineFormatStage> = {
  ...usualTraits,
  word: 'line_format',
  addRules() {
    grammar.rule(stage)([stageWord('line_format'), token.string], ([, template], span) => ({
      kind: 'line-format',
      template,
      span,
    }));
  },
  print: ({ template }) => `| line_format ${quoteGo(template)}`,
  checks: ({ template }) => [
    () => {
      const fault = stageFault(() => parseTemplate(template, 'line'));
      return fault === undefined ? undefined : `invalid line template: ${fault}`;
    },
  ],
  order: 'barrier',
  changesLine: 'for-readers',
  errors: () => 'made',
  compile: ({ template }, { slots, meter }) => compileLineFormat(template, slots, meter),
  hintedNames: ({ template }) => templateFields(template, 'line'),
  names: () => 'all',
  whyHere: 'lineRewrite',
};

/**
 * `| line_format`: the line becomes the template's text, and stays unchanged when the template fails.
 * @throws TemplateSyntaxError, ApiError `lineFormatLimit`: see compileStageTemplate
 */
function compileLineFormat(template: string, slots: SlotTable, meter: Meter): RunStage {
  const name = onlyField(parseTemplate(template, 'line'));
  if (name !== undefined) {
    // A single field is copied from the labels, where a missing error counts as empty.
    const slot = slots.pin(name);
    return (work) => {
      work.line = withinLimit(work.get(slot) ?? '');
      work.formatted += work.line.length;
      return true;
    };
  }
  const render = compileStageTemplate(template, 'line', meter);
  return (work) => {
    work.line = renderedText(work, render(work)) ?? work.line;
    return true;
  };
}

/** The name of the label that the stage copies to the line; undefined if its template is anything but one field. */
export function copiedLabel({ template }: LineFormatStage): string | undefined {
  return onlyField(parseTemplate(template, 'line'));
}

/** The name of the field that a template consists of, even if the field is only assigned to a variable. */
function onlyField({ body }: Template): string | undefined {
  const [node, ...others] = body;
  if (others.length > 0 || node?.kind !== 'action' || node.pipe.commands.length !== 1) return undefined;
  const args = node.pipe.commands[0]?.args ?? [];
  const [field] = args;
  return args.length === 1 && field?.kind === 'field' && field.names.length === 1
    ? field.names[0]
    : undefined;
}

/** A character takes at most three bytes. */
function withinLimit(text: string): string {
  const isSurelyShort = text.length * 3 <= formatLimits.output;
  if (!isSurelyShort && Buffer.byteLength(text) > formatLimits.output) exceeded('output');
  return text;
}
