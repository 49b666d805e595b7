/** Counts lines by the level that is written in them. */
import type { Steps } from '../../../base/pace/steps.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import { and, exact, extract, not, oneOf, or, present } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { commonForms, valueIn, type LevelForm } from '../../../victoria/names/level-forms.js';
import { levelFromLine } from '../../../victoria/names/level.js';
import {
  levelWords,
  normalLevel,
  usualSpellings,
  wordsOfLevel,
} from '../../../victoria/names/level-words.js';
import { decline, type Declined } from '../declined.js';
import { levelColumns, levelPipes, mayHaveValue, startsObject, writtenLevels } from './level-conditions.js';
import { SpelledWords, type LevelSpellings } from './level-spellings.js';
import {
  minLinesPerClass,
  noLevel,
  type LineDigest,
  type LineQuestion,
  type RepresentativeLine,
} from './line-digests.js';

/** Distinguishes lines by their levels. */
export const levelQuestion: LineQuestion = { key: 'level', digestFor: levelDigestFor };

/** Maximum number of forms that lines are searched for. */
const maxForms = 6;
/** The values that stand for levels, as programs write them. */
const levelValues: ReadonlyMap<string, string> = new Map(
  levelWords.flatMap((word) =>
    usualSpellings(word).flatMap((spelling) =>
      writtenLevels([spelling]).map((text) => [text, normalLevel(word) ?? ''] as const),
    ),
  ),
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

const levelNames = [...new Set(levelValues.values())];

function valuesOf(level: string): readonly string[] {
  return [...levelValues].flatMap(([text, of]) => (of === level ? [text] : []));
}

// Unlikely as the names of a client's fields, which would only be overwritten during counting.
const value = '__level_cut';
const spelling = '__level_spelled';
const line = '__level_several';

/** The digest of lines whose first value in one of the forms is the level, and which otherwise spell one level or none. */
function provenDigest(
  { pipes }: LineDigest,
  forms: readonly LevelForm[],
  { levels }: LevelSpellings,
): LineDigest['proven'] {
  const overwrite = { kind: 'format', rule: 'overwrite' } as const;
  const isUncut = not(present(value));
  const proven: readonly LogsqlPipe[] = [
    ...forms.map(({ prefix, suffix, isField }) => ({
      ...extract('_msg', `${prefix}<plain:${value}>${suffix}`),
      condition: and(isField ? startsObject : not(startsObject), isUncut),
    })),
    ...(forms.length === 0
      ? []
      : [{ ...overwrite, as: value, pattern: '', condition: not(oneOf(value, [...levelValues.keys()])) }]),
    ...levels.map(({ filter }, index) => ({
      ...{ ...overwrite, as: spelling, pattern: `<${spelling}>${String(index)}` },
      condition: and(isUncut, filter),
    })),
    {
      ...{ ...overwrite, as: line, pattern: '<_msg>' },
      condition: and(
        present(spelling),
        not(
          oneOf(
            spelling,
            levels.map((_level, index) => String(index)),
          ),
        ),
      ),
    },
  ];
  const hasLevel = (level: string): LogsqlFilter =>
    oneOf(levelColumns.level, writtenLevels(wordsOfLevel(level)));
  const isEqual = or(
    and(exact(levelColumns.level, ''), isUncut, exact(spelling, '')),
    ...levelNames.map((level) => and(oneOf(value, valuesOf(level)), hasLevel(level))),
    ...levels.map(({ level }, index) => and(isUncut, exact(spelling, String(index)), hasLevel(level))),
  );
  return {
    uncertainLines: {
      key: `level ${JSON.stringify([forms, levels.map(({ filter }) => printFilter(filter))])}`,
      pipes: [...pipes, ...proven],
      filter: not(or(present(line), and(exact(levelColumns.line, ''), isEqual))),
    },
    digest: {
      pipes: proven,
      columns: [value, spelling, line],
      representativeOf(get) {
        const whole = get(line) ?? '';
        if (whole !== '') return representingLevel(levelFromLine(whole));
        return representingLevel(
          levelValues.get(get(value) ?? '') ?? levels[Number(get(spelling) || NaN)]?.level,
        );
      },
    },
  };
}
