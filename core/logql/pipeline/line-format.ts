import type { LineFormatStage } from '../ast.js';
import { exceeded, formatLimits } from '../template/exec/limits.js';
import type { SlotTable } from './slot-table.js';
import type { Meter } from './meter.js';
import { compileStageTemplate } from './template.js';
import type { RunStage } from './work-line.js';

const oneField = /^\{\{-?\s*\.([A-Za-z_][A-Za-z0-9_]*)\s*-?\}\}$/;

/**
 * `| line_format`: the line becomes the template's text, and stays unchanged when the template fails.
 * @throws TemplateSyntaxError, ApiError `lineFormatLimit`: see compileStageTemplate
 */
export function compileLineFormat({ template }: LineFormatStage, slots: SlotTable, meter: Meter): RunStage {
  const name = oneField.exec(template)?.[1];
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
    work.line = render(work) ?? work.line;
    return true;
  };
}

/** A character takes at most three bytes. */
function withinLimit(text: string): string {
  const isSurelyShort = text.length * 3 <= formatLimits.output;
  if (!isSurelyShort && Buffer.byteLength(text) > formatLimits.output) exceeded('output');
  return text;
}
