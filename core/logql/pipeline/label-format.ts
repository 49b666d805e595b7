import type { LabelFormatStage } from '../ast.js';
import type { Rendered } from '../template/compile.js';
import type { Meter } from './meter.js';
import type { SlotTable } from './slot-table.js';
import { compileStageTemplate, textOf, type StageTemplate } from './template.js';
import type { Slot } from './slot.js';
import type { RunStage, WorkLine } from './work-line.js';

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
 * `| label_format`: renames happen one after another; all templates see the labels as they are when the first template runs, so their texts
 * are computed together.
 */
export function compileLabelFormat(
  { assignments }: LabelFormatStage,
  slots: SlotTable,
  meter: Meter,
): RunStage {
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
      // On a line without any label each template looks for itself, until one of them has made a label.
      if (results === undefined && work.hasLabels) {
        results = steps.map((later, place) =>
          later.kind === 'render' && place >= index ? later.render(work) : undefined,
        );
      }
      const text = textOf(work, results?.[index] ?? step.render(work));
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
