/** Finds the level of a line in the backend, by the rules of `levelFromLine`. */
import { lowerText, spaceClass } from '../../../logql/template/library/characters.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import {
  and,
  exact,
  extract,
  extractRegexp,
  field,
  formatInto,
  not,
  oneOf,
  or,
  phrase,
  present,
  regexp,
  substring,
} from '../../../victoria/logsql/build.js';
import { type LevelForm, levelNumberPattern } from '../../../victoria/names/level-forms.js';
import {
  levelNames,
  levels,
  levelWordPattern,
  levelWords,
  normalLevel,
  spelledLevels,
} from '../../../victoria/names/level-words.js';

// Unlikely as the names of a client's fields, which would only be overwritten during counting.
/** The columns that `levelPipes` writes. */
export const levelColumns = {
  /** The level in lower case, or in quotes; empty for none. */
  level: '__level',
  /** A line whose level must be found here; empty for all others. */
  line: '__level_line',
} as const;
const before = '__level_before';
const value = '__level_value';
const behind = '__level_behind';
/** The kind of a line with a value. */
const kind = '__level_kind';
const padded = '__level_padded';
const lower = '__level_lower';
/** The numbers of the levels that a line spells. */
const spelled = '__level_words';

/** The kinds of lines with a value in the place of a level. */
const kinds = {
  field: 'field',
  /** A field whose value is a number, which Loki does not read as a level. */
  number: 'number',
  /** The value of a pair whose name has precedence over all others. */
  firstPair: 'first',
  pair: 'pair',
  /** The value is the level. */
  decided: 'decided',
} as const;

/** Parts of level names in lower case; every name contains one of them. */
const stems = ['level', 'lvl', 'everity'];
const names = [...new Set(levelNames.map((name) => name.toLowerCase().replaceAll('.', '\\.')))].join('|');
const jsonBlank = '[ \\t\\r\\n]*';
const fieldName = `"(?:${names})"${jsonBlank}:${jsonBlank}"`;
// The long s is an s when case is ignored.
const pairName = `(?:^|[\\x00-\\x20"])(?:${names.replaceAll('s', '[sſ]')})`;
/** The escapes of letters, dots and underscores, which a name may be spelled with. */
const escapedName = '\\\\u00(?:[4-7]|2e)';

/** The level words, with and without quotes. */
export const writtenLevels = (words: readonly string[]): readonly string[] => [
  ...words,
  ...words.map((word) => `"${word}"`),
];

export const startsObject = field('_msg', { kind: 'exact-prefix', text: '{' });
const mayBeObject = or(startsObject, regexp('_msg', `^${spaceClass}+\\{`));
const isObject = and(startsObject, regexp('_msg', '\\}[\\t-\\r ]*$'));

// All of these search a text in lower case.
const holdsStem = (column: string): LogsqlFilter => or(...stems.map((stem) => substring(column, stem)));
/** Matches texts with a field of a JSON object that may be a level. */
const mayHoldField = (column: string): LogsqlFilter =>
  or(
    and(holdsStem(column), regexp(column, fieldName)),
    and(substring(column, '\\u00'), regexp(column, escapedName)),
  );
/** Matches texts with a logfmt pair that may be a level. */
const mayHoldPair = (column: string): LogsqlFilter => and(holdsStem(column), regexp(column, `${pairName}=`));
/** As `mayHoldPair`, and for names without a value too. */
const mayHoldName = (column: string): LogsqlFilter =>
  and(holdsStem(column), regexp(column, `${pairName}(?:$|[=\\x00-\\x20"])`));
const holdsWord = (column: string): LogsqlFilter => or(...spelledLevels.map((word) => phrase(column, word)));

// A class that ends with the last code point takes the backend 10 ms more to compile. Lines with later characters than this one before
// their level are sent whole, unless the first level word shows the same level.
const last = '\\x{2fff}';
const unquoted = `[\\x00-!#-\\[\\]-${last}]`;
const text = `"(?:${unquoted}|\\\\["\\\\/bfnrtu])*"`;
const key = `"${unquoted}*": ?`;
const scalar = `(?:${text}|-?[0-9][0-9.eE+-]*|true|false|null)`;
const array = `\\[(?:[\\x00-!#-Z\\\\^-${last}]|${text})*\\]`;
const scalars = `(?:${key}${scalar}, ?)*`;
const object = `\\{${scalars}(?:${key}${scalar})?\\}`;
/** Matches the start of an object up to the key of a field in it, or in an object directly in it. */
const startOfField = `^\\{(?:${key}(?:${scalar}|${array}|${object}), ?)*(?:${key}\\{${scalars})?$`;
const inPair = `[!#-<>-${last}]`;
const quoted = `"(?:[ !#-\\[\\]-${last}]|\\\\["\\\\nrt])*"`;
/** Matches logfmt between blanks. */
const wholePairs = `^(?: |${inPair}+(?:=(?:${inPair}*|${quoted}))?(?: |$))*$`;
/** Matches values that both kinds of lines read alike, or that are no level words however they are read. */
const plainValue = `^(?:[!#-\\[\\]-${last}]*|"[!#-\\[\\]-${last}]*"?)$`;

const hasKind = (name: keyof typeof kinds): LogsqlFilter => exact(kind, kinds[name]);
const isOfField = oneOf(kind, [kinds.field, kinds.number]);
const isLevelValue = oneOf(value, writtenLevels(levelWords));

/** Cuts the values of these forms out of lines that have them, with the texts before and behind them. */
function cut(forms: readonly LevelForm[]): readonly LogsqlPipe[] {
  const isUncut = not(present(behind));
  const cutForm = ({ prefix, suffix, kind: form }: LevelForm): LogsqlPipe => {
    const [from, start, isLike] =
      form === 'pair' ? [padded, ` ${prefix}`, present(padded)] : ['_msg', prefix, startsObject];
    return {
      ...extract(from, `<plain:${before}>${start}<plain:${value}>${suffix}<plain:${behind}>`),
      condition: and(isLike, isUncut),
    };
  };
  const cutKind = (
    name: keyof typeof kinds,
    some: readonly LevelForm[],
    condition: LogsqlFilter,
  ): readonly LogsqlPipe[] =>
    some.length === 0
      ? []
      : [
          ...some.map(cutForm),
          formatInto(kind, kinds[name], and(present(behind), not(present(kind)), condition)),
        ];
  const ofKind = (form: LevelForm['kind']): readonly LevelForm[] =>
    forms.filter(({ kind: other }) => other === form);
  const pairs = ofKind('pair');
  const holdsPair = or(...pairs.map(({ prefix }) => substring('_msg', prefix)));
  return [
    ...cutKind('field', ofKind('text'), isObject),
    ...cutKind('number', ofKind('number'), and(isObject, regexp(value, levelNumberPattern))),
    ...(pairs.length === 0 ? [] : [formatInto(padded, ' <_msg>  ', and(not(mayBeObject), holdsPair))]),
    ...cutKind(
      'firstPair',
      pairs.filter(({ name }) => name === 'level'),
      present(padded),
    ),
    ...cutKind(
      'pair',
      pairs.filter(({ name }) => name !== 'level'),
      present(padded),
    ),
    formatInto(before, `<lc:${before}>`, present(kind)),
    // Loki does not accept a level with a dotted capital I, which the backend would turn into an i.
    formatInto(value, `<lc:${value}>`, and(present(kind), not(substring(value, 'İ')))),
  ];
}

/** Matches lines whose value is the level, as the text before it shows. */
const isDecided = and(
  isLevelValue,
  or(
    and(hasKind('field'), not(mayHoldField(before)), or(exact(before, '{'), regexp(before, startOfField))),
    and(hasKind('firstPair'), not(mayHoldName(before)), regexp(before, wholePairs)),
  ),
);

/** Matches lines whose only value is a level that the first level word has too, or none. */
const isHarmless = and(
  present(kind),
  or(
    and(oneOf(value, writtenLevels(spelledLevels)), not(holdsWord(before))),
    and(not(isLevelValue), or(isOfField, regexp(value, plainValue))),
  ),
  or(
    and(isOfField, not(mayHoldField(before)), not(mayHoldField(behind))),
    and(not(isOfField), not(mayHoldPair(before)), not(mayHoldPair(behind))),
  ),
);

const hasPossibleValue = or(and(mayBeObject, mayHoldField(lower)), and(not(isObject), mayHoldPair(lower)));

/** The levels, each with the words that express it anywhere in a text. */
const wordsByLevel = levels.map(
  (level) => [level, spelledLevels.filter((word) => normalLevel(word) === level)] as const,
);

/**
 * Writes the level of the first level word, or that word, as the column `level`. A regular expression takes long, so it is used only where
 * lines spell several levels, or in an unusual way.
 * @param contexts level words in lower case, each between the characters that stand around it in many lines
 * @param some the lines to search, and texts in lower case that contain words but decide no level
 */
export function levelWordPipes(
  contexts: readonly string[],
  { lines, harmless = [] }: { readonly lines?: LogsqlFilter; readonly harmless?: readonly string[] },
): readonly LogsqlPipe[] {
  const { level } = levelColumns;
  const spell = wordsByLevel.map(([, words], index) =>
    formatInto(spelled, `<${spelled}>${String(index)}`, or(...words.map((word) => phrase(lower, word)))),
  );
  const usual = wordsByLevel.flatMap(([name, words], index) => {
    const own = contexts.filter((context) => words.includes(context.slice(1, -1)));
    const isUsual = or(...own.map((context) => substring(lower, context)));
    return own.length === 0 ? [] : [formatInto(level, name, and(exact(spelled, String(index)), isUsual))];
  });
  return [
    formatInto(lower, ' <lc:_msg>  ', lines),
    ...harmless.map((old): LogsqlPipe => ({ kind: 'replace', old, replacement: '', at: lower })),
    ...spell,
    ...usual,
    {
      ...extractRegexp(lower, levelWordPattern(`(?P<${level}>`, spelledLevels.join('|'))),
      condition: and(present(spelled), not(present(level))),
    },
  ];
}

/**
 * Writes `levelColumns`. Lines that have their level in one of the forms take the least time.
 * @param contexts level words in lower case, each between the characters that stand around it in many lines
 */
export function levelPipes(forms: readonly LevelForm[], contexts: readonly string[]): readonly LogsqlPipe[] {
  const isOpen = not(hasKind('decided'));
  const { level, line } = levelColumns;
  const deciding =
    forms.length === 0
      ? []
      : [
          ...cut(forms),
          formatInto(level, `<${value}>`, isDecided),
          formatInto(kind, kinds.decided, present(level)),
          formatInto(behind, `<lc:${behind}>`, and(present(kind), isOpen)),
        ];
  return [
    ...deciding,
    ...levelWordPipes(contexts, { lines: isOpen }),
    formatInto(line, '<_msg>', and(isOpen, not(isHarmless), hasPossibleValue)),
  ];
}

const valueOfLevel = new RegExp(`${fieldName}|${pairName}=|${escapedName}`);

/** True if a line may have a level in a field or a pair. */
export function mayHaveValue(line: string): boolean {
  return valueOfLevel.test(lowerText(line));
}
