import type { Stage } from '../ast.js';
import { LabelSet } from '../../base/labels/label-set.js';
import { compileStage } from '../stages/index.js';
import { addChecks } from '../stages/label-filter.js';
import { splitLineTests } from '../stages/line-filter.js';
import { noHints } from './hints.js';
import { orderStages } from './line-order.js';
import type { LineTest, Pipeline } from './types.js';
import { Meter } from './meter.js';
import { Output } from './output.js';
import { SlotTable } from './slot.js';
import { type RunStage, WorkLine } from './work-line.js';

export type { Pipeline } from './types.js';

/**
 * Compiles the stages of a log query, once per query. The result runs on any number of lines, one after the other. It only throws when a
 * template's text exceeds the limits (ApiError `lineFormatLimit`), or when the meter has a limit and the line exceeds it.
 * @throws the errors that checkStages turns into Loki's texts, for a stage that cannot be compiled
 */
export function compilePipeline(stages: readonly Stage[], meter = new Meter()): Pipeline {
  const { tests, rest } = splitLineTests(orderStages(stages), meter);
  const slots = new SlotTable();
  const output = new Output(slots, 'while-useful');
  addChecks(rest, slots, meter);
  const run = rest.map((stage) => compileStage(stage, { slots, hints: noHints, meter }));
  const work = new WorkLine(slots, noHints, LabelSet.empty, meter);
  return (entry) => {
    meter.start();
    if (!passesAll(tests, entry.line)) return undefined;
    if (run.length === 0 && entry.structuredMetadata.size === 0) {
      const { line, stream, structuredMetadata } = entry;
      return { line, stream, structuredMetadata, parsed: LabelSet.empty, formatted: 0 };
    }
    work.start(entry);
    return runAll(run, work) ? output.line(work, entry) : undefined;
  };
}

export function passesAll(tests: readonly LineTest[], line: string): boolean {
  for (const test of tests) if (!test(line)) return false;
  return true;
}

/** Runs the stages in order; false when one drops the line. */
export function runAll(stages: readonly RunStage[], work: WorkLine): boolean {
  for (const stage of stages) if (!stage(work)) return false;
  return true;
}
