import type { LabelFilter, StringLabelFilter } from '../../logql/ast.js';
import { isDeeperThan } from '../../logql/walk.js';
import { readLiteralRegexp } from '../../logql/pipeline/literal-regexp.js';
import { compileTextTest, isEmptyPattern } from '../../logql/pipeline/text-test.js';
import type { LogsqlFilter, StreamMatcher } from '../../victoria/logsql/ast.js';
import {
  and,
  everything,
  exact,
  matcher,
  not,
  oneOf,
  or,
  present,
  regexp,
  streamMatch,
  substring,
} from '../../victoria/logsql/build.js';
import { longDecimalPattern } from '../../victoria/names/decimal.js';
import { detectedLevelName, unknownLevel } from '../../victoria/names/level.js';
import { levelNames, wordsOfLevel } from '../../victoria/names/level-words.js';
import { mayBeFilledIn } from '../../victoria/names/otlp-fill.js';
import { serviceNameLabel } from '../../victoria/names/service-name.js';
import type { StoredNames } from '../../victoria/names/stored-names.js';
import { requiredTexts } from '../../logql/regexp/required.js';
import { wholeMatcher } from './backend-pattern.js';
import { comparesTexts, type NameScope } from './name-scope.js';
import type { RuleId } from './rules/table.js';

/** What the backend can do for a label filter: rows that can pass, or all of them. The filter still runs here. */
export interface PushedLabels {
  readonly rule: RuleId;
  readonly filter: LogsqlFilter;
}

const deepest = 50;
const longDecimal = new RegExp(longDecimalPattern);

/**
 * Decides how a label filter goes to the backend (docs/protocol/logql-to-logsql.md#label-filters). Without stored names it is only
 * told what would be done, with the name as its one spelling.
 */
export function pushLabelFilter(filter: LabelFilter, scope: NameScope, names?: StoredNames): PushedLabels {
  if (isDeeperThan(filter, deepest)) return none('labelDeep');
  switch (filter.kind) {
    case 'and': {
      const left = pushLabelFilter(filter.left, scope, names);
      const right =
        comparesTexts(filter.right) || comparesTexts(filter.left)
          ? pushLabelFilter(filter.right, scope, names)
          : none('labelNumber');
      return { rule: strongest(left, right), filter: and(left.filter, right.filter) };
    }
    case 'or': {
      const left = pushLabelFilter(filter.left, scope, names);
      const right = pushLabelFilter(filter.right, scope, names);
      const rule =
        left.filter.kind === 'all' ? left.rule : right.filter.kind === 'all' ? right.rule : left.rule;
      return { rule, filter: or(left.filter, right.filter) };
    }
    case 'string': {
      if (filter.name === detectedLevelName && scope.isStored(filter.name)) return pushLevel(filter, names);
      const refusal = refuse(filter.name, scope);
      return refusal ?? pushText(filter, names);
    }
    case 'number':
    case 'duration':
    case 'bytes':
    case 'ip': {
      const refusal = refuse(filter.name, scope);
      if (refusal !== undefined) return refusal;
      if (scope.mayHaveFailed) return none('labelAfterError');
      const fields = spellings(filter.name, names);
      return {
        rule: filter.kind === 'ip' ? 'labelAddress' : 'labelNumber',
        filter: or(...fields.map(present)),
      };
    }
  }
}

function strongest(left: PushedLabels, right: PushedLabels): RuleId {
  return left.filter.kind === 'all' ? right.rule : left.rule;
}

function refuse(name: string, scope: NameScope): PushedLabels | undefined {
  if (!scope.isStored(name)) return none('labelParsed');
  const isDerived =
    name === serviceNameLabel ||
    name === detectedLevelName ||
    name.startsWith('_') ||
    name.endsWith('_extracted');
  return isDerived ? none('labelDerived') : undefined;
}

function pushText(filter: StringLabelFilter, names: StoredNames | undefined): PushedLabels {
  const { name, op, value } = filter;
  // Everything passes, or nothing does: not what the backend takes an empty pattern for.
  if ((op === '=~' || op === '!~') && isEmptyPattern(value)) return none('labelNegated');
  if (!compileTextTest(op, value)('')) {
    const each = spellings(name, names).map((field) => holds(field, filter));
    return { rule: 'labelText', filter: or(...each) };
  }
  // A field that only some rows show under this name says nothing of the others.
  const fields = names === undefined ? [name] : names.sureFieldsOf(name);
  if (fields.some(mayBeFilledIn)) return none('labelFilledIn');
  if (op === '=') return { rule: 'labelMissing', filter: and(...fields.map((field) => not(present(field)))) };
  const [field, another] = names === undefined ? fields : names.fieldsOf(name);
  const texts = op === '!=' ? [value] : op === '!~' ? alternatives(value) : undefined;
  if (
    field === undefined ||
    another !== undefined ||
    fields.length === 0 ||
    texts === undefined ||
    texts.some((text) => longDecimal.test(text))
  )
    return none('labelNegated');
  // Where the stream has the field, its value counts; a row may show another one over it.
  const ofStream: LogsqlFilter = {
    kind: 'stream',
    groups: [[{ kind: 'list', label: field, op: 'in', values: texts }], [matcher(field, '=', '')]],
  };
  return { rule: 'labelNot', filter: not(and(oneOf(field, texts), ofStream)) };
}

/** Rows with a word that means one of the levels asked for, or with a field that may hold a level. */
function pushLevel({ op, value }: StringLabelFilter, names: StoredNames | undefined): PushedLabels {
  const levels = op === '=' ? [value] : op === '=~' ? alternatives(value) : undefined;
  // What is told by nothing is unknown, and most lines are info: the whole range would be searched for what any page holds.
  if (levels === undefined || levels.some((level) => level === '' || commonLevels.has(level)))
    return none('labelDerived');
  const sources = [...levelNames, 'severity_number', detectedLevelName];
  const words = [...new Set(levels)].flatMap(wordsOfLevel);
  const stems = words.filter((word) => !words.some((other) => other !== word && word.includes(other)));
  const texts = stems.length === 0 ? [] : requiredTexts(`(?i)(?:${stems.join('|')})`);
  if (stems.length > 0 && texts.length === 0) return none('labelDerived');
  const ofLine = texts.map((list) => or(...list.map((text) => substring('_msg', text))));
  return {
    rule: 'labelLevel',
    filter: or(
      ...sources.flatMap((name) => spellings(name, names)).map(present),
      ...(stems.length === 0 ? [] : [and(...ofLine)]),
    ),
  };
}

const commonLevels: ReadonlySet<string> = new Set([unknownLevel, 'info']);

/** Rows where a field may hold a text that passes; the field may belong to the stream, and a row may hide its value. */
function holds(field: string, { op, value }: StringLabelFilter): LogsqlFilter {
  // The backend does not find words with the sign for bytes that are no text.
  if (/\ufffd|\\x\{0*fffd\}/i.test(value)) return present(field);
  switch (op) {
    case '=': {
      const repaired = /^-?\d+\.\d+$/.test(value) ? [regexp(field, longDecimalPattern)] : [];
      return or(exact(field, value), stream(matcher(field, '=', value)), ...repaired);
    }
    case '=~': {
      const texts = alternatives(value);
      const ofStream = stream(wholeMatcher(field, '=~', value));
      if (texts?.every((text) => !/^-?\d+\.\d+$/.test(text)) === true)
        return or(oneOf(field, texts), ofStream);
      return or(regexp(field, `^(?:${value})$`), ofStream, regexp(field, longDecimalPattern));
    }
    case '!=':
    case '!~':
      return present(field);
  }
}

function stream(one: StreamMatcher): LogsqlFilter {
  return streamMatch(one);
}

/** The texts that a pattern is made of, when it is nothing else. */
function alternatives(pattern: string): readonly string[] | undefined {
  const literal = readLiteralRegexp(pattern);
  if (literal === undefined || literal.ignoresCase || pattern.includes('*')) return undefined;
  return literal.texts.length === 0 ? undefined : literal.texts;
}

function spellings(name: string, names: StoredNames | undefined): readonly string[] {
  return [...new Set([name, ...(names?.fieldsOf(name) ?? [])])];
}

function none(rule: RuleId): PushedLabels {
  return { rule, filter: everything };
}
