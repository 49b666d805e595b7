import type { StringLabelFilter } from '../../../../logql/ast.js';
import { labelMeaning } from '../../../../logql/pipeline/filter-meaning.js';
import { requiredTexts } from '../../../../logql/regexp/required.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { and, or, present, substring } from '../../../../victoria/logsql/build.js';
import { detectedLevelName, unknownLevel } from '../../../../victoria/names/level.js';
import { levelNames, wordsOfLevel } from '../../../../victoria/names/level-words.js';
import { missingLineRows } from '../../missing-lines.js';
import { labelRule, spellings, textOf, textsOf } from './label-rule.js';

export const labelLevel = labelRule({
  id: 'labelLevel',
  construct: '| detected_level="error", | detected_level=~"warn|error"',
  backend: '(_msg:*"err"* or ... all cases ... or level:* or severity:* ...)',
  verdict: 'superset',
  reason:
    'a level told by the line is a word of it, and any field of a rebuilt line may hold the word; info and unknown are left to the rows, of which any page holds some',
  example: '{namespace="shop"} | detected_level="error"',
  match: (placed) => {
    const filter = textOf(placed);
    const lines = filter?.name === detectedLevelName ? linesOf(filter) : undefined;
    return lines && [...lines, missingLineRows(placed.scope.naming)];
  },
  emit: (lines, names) => {
    const sources = [...levelNames, 'severity_number', detectedLevelName];
    return or(...sources.flatMap((name) => spellings(name, names)).map(present), ...lines);
  },
});

// What is told by nothing is unknown, and most lines are info: the whole range would be searched for what any page holds.
const commonLevels: ReadonlySet<string> = new Set([unknownLevel, 'info']);

/** Lines with a word that means one of the levels asked for; undefined where any line may. */
function linesOf(filter: StringLabelFilter): readonly LogsqlFilter[] | undefined {
  const meaning = labelMeaning(filter);
  const levels = meaning.isNegated ? undefined : textsOf(meaning);
  if (levels === undefined || levels.some((level) => level === '' || commonLevels.has(level)))
    return undefined;
  const words = [...new Set(levels)].flatMap(wordsOfLevel);
  const stems = words.filter((word) => !words.some((other) => other !== word && word.includes(other)));
  if (stems.length === 0) return [];
  const texts = requiredTexts(`(?i)(?:${stems.map(patternOf).join('|')})`);
  if (texts.length === 0) return undefined;
  return [escapedValue, and(...texts.map((list) => or(...list.map((text) => substring('_msg', text)))))];
}

// In a quoted value of logfmt, letters may be written with escapes.
const escapedValue = and(substring('_msg', '="'), substring('_msg', '\\u00'));

// The dotted I counts as an i.
function patternOf(word: string): string {
  return word.replaceAll('i', '.');
}
