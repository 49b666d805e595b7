import type { PatternStage } from '../ast.js';
import { quoteGo } from '../../base/label-set.js';
import { parsePattern, PatternError, type PatternPart } from '../pattern.js';
import type { Hints, RunStage } from '../pipeline/work-line.js';
import { type SlotTable, verbatim, type Slot } from '../pipeline/slot.js';
import { abort, stage } from '../syntax/log-rules.js';
import { grammar, stageWord, token } from '../syntax/tokens.js';
import { parserTraits, type StageDescriptor } from './stage.js';

/** `| pattern` */
export const pattern: StageDescriptor<PatternStage> = {
  ...parserTraits,
  word: 'pattern',
  addRules() {
    grammar.rule(stage)([stageWord('pattern'), token.string], ([, text], span) => {
      checkPatternStage(text);
      return { kind: 'pattern', pattern: text, span };
    });
  },
  print: (made) => `| pattern ${quoteGo(made.pattern)}`,
  source: () => 'pieces',
  extraction(made) {
    const parts = partsOf(made);
    return parts.length > 1 ? { from: 'captures', parts } : undefined;
  },
  errors: () => 'kept',
  makes: ({ pattern }) => [...pattern.matchAll(/<(?!_>)([^<>]*)>/g)].map(([, name = '']) => name),
  compile: (made, { slots, hints }) => compilePattern(made.pattern, slots, hints),
};

function partsOf(made: PatternStage): readonly PatternPart[] {
  return parsePattern(made.pattern, 'captures');
}

/** Refuses a `pattern` stage whose expression is invalid or captures nothing. */
function checkPatternStage(text: string): void {
  try {
    parsePattern(text, 'captures');
  } catch (error) {
    if (error instanceof PatternError) abort(`invalid pattern parser: ${error.message}`);
    throw error;
  }
}

/** Nanoseconds per character: no part of the line is searched twice. */
const patternCost = 5;

/** `| pattern`: captures the text between the literal pieces. If a piece is missing, the capture before it takes the rest of the line. */
function compilePattern(text: string, slots: SlotTable, hints: Hints): RunStage {
  const parts = parsePattern(text, 'captures');
  const [first] = parts;
  const start = first?.kind === 'literal' ? first.text : '';
  const captures: Capture[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.kind !== 'capture') continue;
    const behind = parts[index + 1];
    captures.push({
      slot: part.name === undefined ? undefined : slots.pin(part.name),
      end: behind?.kind === 'literal' ? behind.text : undefined,
    });
  }
  if (hints.skipsParsers) return () => true;
  return (work) => {
    const { line } = work;
    work.charge(patternCost);
    if (line === '' || work.hasAllRequired() || !line.startsWith(start)) return true;
    let from = start.length;
    for (const { slot, end } of captures) {
      const found = end === undefined ? -1 : line.indexOf(end, from);
      const to = found < 0 ? line.length : found;
      if (slot !== undefined) {
        const target = work.target(slot);
        if (work.wants(target)) {
          work.take(target, line, from, to, verbatim);
          if (!work.passes(target)) return false;
        }
      }
      if (end === undefined || found < 0) return true;
      from = found + end.length;
    }
    return true;
  };
}

interface Capture {
  readonly slot: Slot | undefined;
  /** The literal that ends the capture; undefined at the end of the pattern. */
  readonly end: string | undefined;
}
