import type { LineFilterStage, LineFilterTerm } from '../ast.js';
import { Meter } from './meter.js';
import type { LineTest } from './types.js';
import { compileIpFilter } from './line-filter-ip.js';
import { compilePatternFilter } from './line-filter-pattern.js';
import { compileRegexpFilter } from './line-filter-regexp.js';

/** Compiles a line filter; its alternatives were checked when the query was parsed. */
export function compileLineFilter(stage: LineFilterStage, meter = new Meter()): LineTest {
  const tests = stage.alternatives.map((term) => compileTerm(stage, term, meter));
  const [first] = tests;
  const anyOf: LineTest =
    tests.length === 1 && first !== undefined ? first : (line) => tests.some((test) => test(line));
  return stage.op.startsWith('!') ? (line) => !anyOf(line) : anyOf;
}

function compileTerm(stage: LineFilterStage, term: LineFilterTerm, meter: Meter): LineTest {
  if (term.kind === 'ip') return compileIpFilter(term.value, meter);
  const { value } = term;
  switch (stage.op) {
    case '|=':
    case '!=':
      return (line) => {
        meter.charge(line.length);
        return line.includes(value);
      };
    case '|~':
    case '!~':
      return compileRegexpFilter(value, meter);
    case '|>':
    case '!>':
      return compilePatternFilter(value, meter);
  }
}
