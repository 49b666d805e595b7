import type { Stage } from '../ast.js';
import { compileDecolorize } from './decolorize-stage.js';
import { compileDrop, compileKeep } from './drop-keep.js';
import type { Hints } from './hints.js';
import { compileJsonParams } from './json-params.js';
import { compileJson } from './json-stage.js';
import { compileLabelFilter, labelFilterNames } from './label-filter.js';
import { compileLabelFormat } from './label-format.js';
import { compileLineFilter } from './line-filter.js';
import { compileLineFormat } from './line-format.js';
import { compileLogfmt } from './logfmt-stage.js';
import type { Meter } from './meter.js';
import { compilePattern } from './pattern-stage.js';
import { compileRegexp } from './regexp-stage.js';
import type { SlotTable } from './slot-table.js';
import { templateFields } from './template-fields.js';
import type { RunStage } from './work-line.js';
import { compileUnpack } from './unpack-stage.js';

/**
 * Compiles one stage.
 * @throws the errors that checkStages turns into Loki's texts, for a stage that cannot be compiled
 */
export function compileStage(stage: Stage, slots: SlotTable, hints: Hints, meter: Meter): RunStage {
  switch (stage.kind) {
    case 'line-filter': {
      const test = compileLineFilter(stage, meter);
      return (work) => test(work.line);
    }
    case 'json':
      return stage.params.length > 0 ? compileJsonParams(stage, slots, hints) : compileJson(slots, hints);
    case 'logfmt':
      return compileLogfmt(stage, slots, hints);
    case 'regexp':
      return compileRegexp(stage, slots);
    case 'pattern':
      return compilePattern(stage, slots, hints);
    case 'unpack':
      return compileUnpack(hints);
    case 'decolorize':
      return compileDecolorize();
    case 'label-filter':
      return compileLabelFilter(stage.filter, slots, meter);
    case 'line-format':
      return compileLineFormat(stage, slots, meter);
    case 'label-format':
      return compileLabelFormat(stage, slots, meter);
    case 'drop':
      return compileDrop(stage, slots, meter);
    case 'keep':
      return compileKeep(stage, slots, meter);
  }
}

/** The labels that a stage is known to read: the parsers of a metric query extract them. */
export function stageNames(stage: Stage): readonly string[] {
  switch (stage.kind) {
    case 'label-filter':
      return labelFilterNames(stage.filter);
    case 'line-format':
      return templateFields(stage.template, 'line');
    case 'label-format':
      return stage.assignments.flatMap((made) =>
        made.kind === 'rename' ? [made.source] : templateFields(made.template, 'label'),
      );
    case 'line-filter':
    case 'json':
    case 'logfmt':
    case 'regexp':
    case 'pattern':
    case 'unpack':
    case 'decolorize':
    case 'drop':
    case 'keep':
      return [];
  }
}
