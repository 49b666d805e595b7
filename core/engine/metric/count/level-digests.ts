/** Counts lines by the level that is written in them. */
import type { Steps } from '../../../base/pace/steps.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, exact, extract, formatInto, not, oneOf, or, present } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { commonForms, valueIn, type LevelForm } from '../../../victoria/names/level-forms.js';
import { levelFromLine } from '../../../victoria/names/level.js';
import { levels, normalLevel, usualSpellings, wordsOfLevel } from '../../../victoria/names/level-words.js';
import { decline, type Declined } from '../declined.js';
import { levelColumns, levelPipes, mayHaveValue, startsObject, writtenLevels } from './level-conditions.js';
import { SpelledWords, type LevelSpellings } from './level-spellings.js';
import {
  minLinesPerClass,
  noLevel,
  representedLevel,
  type Get,
  type LineDigest,
  type LineQuestion,
  type RepresentativeLine,
} from './line-digests.js';

/** Distinguishes lines by their levels. */
export const levelQuestion: LineQuestion = { key: 'level', digestFor: levelDigestFor };

/** Maximum number of forms that lines are searched for. */
const maxForms = 6;
/** All usual spellings of the values of level fields and pairs, each with its level. */
const levelValues: ReadonlyMap<string, string> = new Map(
  levels.flatMap((level) => valuesOf(level).map((text) => [text, level] as const)),
);

/** Derives a digest from a sample of lines. */
function* levelDigestFor(lines: readonly string[]): Steps<LineDigest | Declined> {
  const forms = yield* commonForms(lines, maxForms);
  const words = new SpelledWords();
  let sentLines = 0;
  for (const line of lines) {
    yield;
    const level = levelFromLine(line) ?? '';
    const value = valueIn(line, forms);
    const valueLevel = value === undefined ? undefined : levelOfValue(value);
    if (valueLevel !== undefined && valueLevel === level) continue;
    words.add(line, level);
    if (mayHaveValue(line) && (value === undefined || valueLevel !== undefined)) sentLines += 1;
  }
  if (!isWorthwhile(sentLines, lines)) return decline('lines-differ');
  const spelled = words.levels();
  const digest = levelDigestOf(forms, words.contexts());
  // Streams with lines that are wrong are counted by the rules.
  if (!isWorthwhile(spelled.ambiguous, lines) || spelled.wrong * 2 > lines.length) return digest;
  return { ...digest, proven: provenDigest(digest, forms, spelled) };
}

/** @param others number of lines that are sent whole */
function isWorthwhile(others: number, lines: readonly string[]): boolean {
  return others * minLinesPerClass <= lines.length;
}

function levelOfValue(value: string): string | undefined {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return normalLevel(isQuoted ? value.slice(1, -1) : value);
}

/** A line that consists of the level word alone has that level. */
function representingLevel(level: string | undefined): RepresentativeLine {
  return { line: level ?? noLevel };
}

/** The digest of lines that may have their level in these forms. */
function levelDigestOf(forms: readonly LevelForm[], contexts: readonly string[]): LineDigest {
  const { level, line } = levelColumns;
  return {
    pipes: levelPipes(forms, contexts),
    columns: [level, line],
    representativeOf(get) {
      const whole = get(line) ?? '';
      return representingLevel(whole === '' ? levelOfValue(get(level) ?? '') : levelFromLine(whole));
    },
  };
}

function valuesOf(level: string): readonly string[] {
  return writtenLevels(wordsOfLevel(level).flatMap(usualSpellings));
}

// Unlikely as the names of a client's fields, which would only be overwritten during counting.
const value = '__level_cut';
const spelling = '__level_spelled';
const line = '__level_several';

/** The digest of lines whose first value in one of the forms is the level, and which otherwise spell one level or none. */
function provenDigest(
  { pipes }: LineDigest,
  forms: readonly LevelForm[],
  { levels: spelledLevels }: LevelSpellings,
): LineDigest['proven'] {
  const isUncut = not(present(value));
  const proven: readonly LogsqlPipe[] = [
    ...forms.map(({ prefix, suffix, isField }) => ({
      ...extract('_msg', `${prefix}<plain:${value}>${suffix}`),
      condition: and(isField ? startsObject : not(startsObject), isUncut),
    })),
    ...(forms.length === 0 ? [] : [formatInto(value, '', not(oneOf(value, [...levelValues.keys()])))]),
    ...spelledLevels.map(({ filter }, index) =>
      formatInto(spelling, `<${spelling}>${String(index)}`, and(isUncut, filter)),
    ),
    formatInto(line, '<_msg>', and(present(spelling), not(oneOf(spelling, Object.keys(spelledLevels))))),
  ];
  const hasLevel = (level: string): LogsqlFilter =>
    oneOf(levelColumns.level, writtenLevels(wordsOfLevel(level)));
  const isEqual = or(
    and(exact(levelColumns.level, ''), isUncut, exact(spelling, '')),
    ...levels.map((level) => and(oneOf(value, valuesOf(level)), hasLevel(level))),
    ...spelledLevels.map(({ level }, index) => and(isUncut, exact(spelling, String(index)), hasLevel(level))),
  );
  const representativeOf = (get: Get): RepresentativeLine => {
    const whole = get(line) ?? '';
    if (whole !== '') return representingLevel(levelFromLine(whole));
    return representingLevel(
      levelValues.get(get(value) ?? '') ?? spelledLevels[Number(get(spelling) || NaN)]?.level,
    );
  };
  return {
    uncertainLines: {
      key: `level ${JSON.stringify([forms, spelledLevels.map(({ filter }) => printFilter(filter))])}`,
      pipes: [...pipes, ...proven],
      filter: not(or(present(line), and(exact(levelColumns.line, ''), isEqual))),
      countedLevel: (get) => representedLevel(representativeOf(get)),
    },
    digest: { pipes: proven, columns: [value, spelling, line], representativeOf },
  };
}
