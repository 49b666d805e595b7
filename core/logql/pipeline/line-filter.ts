import type { LineFilterStage } from '../ast.js';
import { lineMeaning } from './filter-meaning.js';
import { compileMeaning, type TextTest } from './filter-test.js';
import { Meter } from './meter.js';

/** Compiles a line filter; its alternatives were checked when the query was parsed. */
export function compileLineFilter(stage: LineFilterStage, meter = new Meter()): TextTest {
  return compileMeaning(lineMeaning(stage), meter);
}
