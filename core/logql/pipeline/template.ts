import { apiError } from '../../errors/table.js';
import { parseTemplate } from '../template/parse.js';
import type { SlotTable } from './slot-table.js';
import type { Slot } from './slot.js';
import { plainPieces, templateFields, type PlainPiece } from './template-fields.js';
import { errorDetailsLabel, errorLabel } from './types.js';
import type { WorkLine } from './work-line.js';

export const templateError = 'TemplateFormatErr';

/** What errors call a template. */
export type TemplateName = 'line' | 'label';

/** A template of a stage: its text for the line at hand; undefined when it fails, which marks the line. */
export type StageTemplate = (work: WorkLine) => string | undefined;

/**
 * Compiles a template of `line_format` or `label_format`.
 * @throws TemplateSyntaxError
 */
export function compileStageTemplate(text: string, name: TemplateName, slots: SlotTable): StageTemplate {
  const pieces = plainPieces(parseTemplate(text, name));
  if (pieces !== undefined) return compilePlain(pieces, slots);
  throw apiError('stageNotYet', { stage: 'line_format' });
}

/** The names of labels that a template reads. */
export function templateNames(text: string, name: TemplateName): readonly string[] {
  return templateFields(parseTemplate(text, name));
}

function compilePlain(pieces: readonly PlainPiece[], slots: SlotTable): StageTemplate {
  const parts = pieces.map((piece) => ('text' in piece ? piece.text : compileField(piece.field, slots)));
  return (work) => {
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : part(work);
    return text;
  };
}

/** Templates see errors as labels; what is missing is empty. */
function compileField(name: string, slots: SlotTable): (work: WorkLine) => string {
  const slot: Slot = slots.pin(name);
  if (name === errorLabel) return (work) => work.get(slot) ?? work.error;
  if (name === errorDetailsLabel) return (work) => work.get(slot) ?? work.errorDetails;
  return (work) => work.get(slot) ?? '';
}
