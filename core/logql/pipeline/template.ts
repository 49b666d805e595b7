import { exceeded, formatLimits } from '../template/exec/limits.js';
import { compileTemplate } from '../template/index.js';
import type { Meter } from './meter.js';
import { errorDetailsLabel, errorLabel } from './types.js';
import type { WorkLine } from './work-line.js';

export const templateError = 'TemplateFormatErr';

/** A stage's template: its text for the current line; undefined when it fails, which marks the line with an error. */
export type StageTemplate = (work: WorkLine) => string | undefined;

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
      return rendered.text;
    }
    work.fail(templateError, rendered.error);
    return undefined;
  };
}

/** Templates see errors as labels. */
function valueFor(work: WorkLine, name: string): string | undefined {
  const slot = work.slots.known(name);
  const value = slot === undefined ? undefined : work.get(slot);
  if (value !== undefined) return value;
  if (name === errorLabel && work.error !== '') return work.error;
  return name === errorDetailsLabel && work.errorDetails !== '' ? work.errorDetails : undefined;
}

function valuesOf(work: WorkLine): readonly (readonly [string, string])[] {
  const values = new Map<string, string>();
  if (work.error !== '') values.set(errorLabel, work.error);
  if (work.errorDetails !== '') values.set(errorDetailsLabel, work.errorDetails);
  for (const slot of work.visible()) values.set(slot.name, work.get(slot) ?? '');
  return [...values];
}
