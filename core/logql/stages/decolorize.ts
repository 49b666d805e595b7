import type { DecolorizeStage } from '../ast.js';
import { stage } from '../syntax/log-rules.js';
import { grammar, stageWord } from '../syntax/tokens.js';
import { type StageDescriptor, usualTraits } from './stage.js';

const escape = 0x1b;
const controlSequence = 0x9b;
const bell = 0x07;
const semicolon = 0x3b;
const maxDigits = 4;
/** Nanoseconds per character. */
const decolorizeCost = 20;

/** `| decolorize`: removes colours and other terminal sequences from the line. */
export const decolorizeStage: StageDescriptor<DecolorizeStage> = {
  ...usualTraits,
  word: 'decolorize',
  addRules() {
    grammar.rule(stage)([stageWord('decolorize')], (_, span) => ({ kind: 'decolorize', span }));
  },
  print: () => '| decolorize',
  layout: 'unindented',
  changesLine: 'yes',
  compile: () => (work) => {
    work.charge(decolorizeCost);
    work.line = decolorize(work.line);
    return true;
  },
  whyHere: 'lineRewrite',
};

/**
 * Removes terminal sequences: an escape, any of `[]()#;?`, and then either letters, digits and semicolons up to a BEL (a window title), or
 * numbers of up to four digits separated by semicolons and a final character.
 */
export function decolorize(line: string): string {
  if (!line.includes('\u001b') && !line.includes('\u009b')) return line;
  let text = '';
  let from = 0;
  for (let at = 0; at < line.length; at += 1) {
    const unit = line.charCodeAt(at);
    if (unit !== escape && unit !== controlSequence) continue;
    const end = sequenceEnd(line, at);
    if (end === undefined) continue;
    text += line.slice(from, at);
    from = end;
    at = end - 1;
  }
  return text + line.slice(from);
}

/** The offset after the sequence that starts here; undefined if there is none. */
function sequenceEnd(line: string, start: number): number | undefined {
  let at = start + 1;
  while ('[]()#;?'.includes(line.charAt(at)) && at < line.length) at += 1;
  return titleEnd(line, at) ?? controlEnd(line, at);
}

function titleEnd(line: string, from: number): number | undefined {
  let at = from;
  while (isAlphanumeric(line.charCodeAt(at)) || line.charCodeAt(at) === semicolon) at += 1;
  return line.charCodeAt(at) === bell ? at + 1 : undefined;
}

function controlEnd(line: string, from: number): number | undefined {
  const first = skipDigits(line, from);
  let at = first;
  let lastDigit = first;
  while (first > from && line.charCodeAt(at) === semicolon) {
    const behind = skipDigits(line, at + 1);
    if (behind > at + 1) lastDigit = behind;
    at = behind;
  }
  if (isFinal(line.charAt(at))) return at + 1;
  // Without a final character, the last digit is taken as one.
  return first > from ? lastDigit : undefined;
}

function skipDigits(line: string, from: number): number {
  let at = from;
  while (at < from + maxDigits && isDigit(line.charCodeAt(at))) at += 1;
  return at;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

function isAlphanumeric(unit: number): boolean {
  return isDigit(unit) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);
}

function isFinal(character: string): boolean {
  return character !== '' && '0123456789ABCDEFGHIJKLMNOPRZcfghijklmnqrty=><~'.includes(character);
}
