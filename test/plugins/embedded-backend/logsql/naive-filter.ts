import { EmbeddedTest } from '../../../../plugins/embedded-backend/logsql/index.js';
import type {
  FieldRef,
  ForeignTest,
  LogsqlFilter,
  RowView,
  StreamMatcher,
  ValueTest,
} from '../../../../plugins/embedded-backend/logsql/index.js';

/**
 * The meaning of a filter, implemented as plainly as possible and without preparation: the reference for the compiled filters. It covers
 * only filters that JavaScript's own means can express.
 */
export function naiveMatch(filter: LogsqlFilter, row: RowView, now: bigint): boolean {
  switch (filter.kind) {
    case 'all':
      return true;
    case 'and':
      return !filter.parts.some((part) => !naiveMatch(part, row, now));
    case 'or':
      return filter.parts.filter((part) => naiveMatch(part, row, now)).length > 0;
    case 'not':
      return naiveMatch(filter.filter, row, now) ? false : true;
    case 'stream':
      return filter.groups.some((group) => group.every((matcher) => naiveMatcher(matcher, row)));
    case 'time':
      return (
        !(filter.min !== undefined && row.timeNs < filter.min) &&
        !(filter.max !== undefined && row.timeNs > filter.max)
      );
    case 'time-relative': {
      const age = now - filter.offset - row.timeNs;
      return age > 0n && (filter.duration === undefined || age <= filter.duration);
    }
    case 'field':
      return fieldsOfRef(filter.field, row).some((name) => naiveTest(filter.test, row.get(name), row));
  }
}

function fieldsOfRef(field: FieldRef, row: RowView): string[] {
  return field.kind === 'name'
    ? [field.name]
    : [...row.fieldNames()].filter((name) => name.indexOf(field.prefix) === 0);
}

// In these rows every stream label is also a field, and only `app` and `env` are labels.
function naiveMatcher(matcher: StreamMatcher, row: RowView): boolean {
  const value = ['app', 'env'].includes(matcher.label) ? row.get(matcher.label) : '';
  if (matcher.kind === 'list') return matcher.values.includes(value) === (matcher.op === 'in');
  const negative = matcher.op.startsWith('!');
  const hit = matcher.op.endsWith('~')
    ? new RegExp(`^(?:${matcher.value})$`, 'su').test(value)
    : value === matcher.value;
  return hit !== negative;
}

const wordCharacter = /[\p{L}\p{Nd}_]/u;

function isWord(character: string | undefined): boolean {
  return character !== undefined && wordCharacter.test(character);
}

function naivePhrase(text: string, value: string, openEnd: boolean): boolean {
  const characters = Array.from(value);
  const wanted = Array.from(text);
  return characters.some((_, start) => {
    const here = characters.slice(start, start + wanted.length);
    if (here.join('') !== text) return false;
    if (isWord(wanted[0]) && isWord(characters[start - 1])) return false;
    return openEnd || !(isWord(wanted.at(-1)) && isWord(characters[start + wanted.length]));
  });
}

function phraseOrEmpty(text: string, value: string): boolean {
  return text === '' ? value === '' : naivePhrase(text, value, false);
}

// The number formats of these tests: decimals, and durations in seconds. "_" may appear anywhere between digits, even alone.
function naiveNumber(text: string): number {
  const plain = text.replaceAll('_', '');
  if (/^(?:-|-?_+)$/.test(text)) return 0;
  if (/^-?(?:0|[1-9_][0-9_]*)(?:\.[0-9_]+)?$/.test(text)) return Number(plain);
  if (!/^-?(?:(?:0|[1-9][0-9_]*)(?:\.[0-9_]+)?s)+$/.test(text)) return NaN;
  const seconds = plain.replace('-', '').split('s').slice(0, -1);
  const total = seconds.map((one) => Math.trunc(Number(one) * 1e9)).reduce((sum, one) => sum + one);
  return text.startsWith('-') ? -total : total;
}

function naiveCompare(op: string, a: number | Buffer, b: number | Buffer): boolean {
  const order = a instanceof Buffer && b instanceof Buffer ? Buffer.compare(a, b) : Number(a) - Number(b);
  if (Number.isNaN(order)) return false;
  return (
    (op.includes('>') && order > 0) || (op.includes('<') && order < 0) || (op.includes('=') && order === 0)
  );
}

function naiveTest(test: ValueTest, value: string, row: RowView): boolean {
  switch (test.kind) {
    case 'phrase':
      return phraseOrEmpty(test.text, value);
    case 'prefix':
      return test.text === '' ? value !== '' : naivePhrase(test.text, value, true);
    case 'exact':
      return !(value < test.text || value > test.text);
    case 'exact-prefix':
      return value.slice(0, test.text.length) === test.text;
    case 'substring':
      return value.split(test.text).length > 1 || test.text === '';
    case 'regexp':
      return new RegExp(test.pattern, 'su').test(value);
    case 'in':
      return test.values.includes(value);
    case 'compare': {
      const bound = naiveNumber(test.value);
      if (Number.isNaN(bound)) return naiveCompare(test.op, Buffer.from(value), Buffer.from(test.value));
      return naiveCompare(test.op, naiveNumber(value), bound);
    }
    case 'own':
      if (test instanceof EmbeddedTest) return naiveForeignTest(test.test, value, row);
      throw new Error('a test of unknown origin');
    default:
      throw new Error(`no plain meaning for ${test.kind}`);
  }
}

function naiveForeignTest(test: ForeignTest, value: string, row: RowView): boolean {
  switch (test.kind) {
    case 'contains-all':
      return test.values.filter((text) => phraseOrEmpty(text, value)).length === test.values.length;
    case 'contains-any':
      return test.values.filter((text) => phraseOrEmpty(text, value)).length > 0;
    case 'any-case': {
      const text = test.text.toLowerCase();
      const low = value.toLowerCase();
      if (text === '') return test.prefix === (low !== '');
      return naivePhrase(text, low, test.prefix);
    }
    case 'range': {
      const number = naiveNumber(value);
      const above = naiveCompare(test.minIncluded ? '>=' : '>', number, naiveNumber(test.min));
      return above && naiveCompare(test.maxIncluded ? '<=' : '<', number, naiveNumber(test.max));
    }
    case 'string-range':
      return (
        Buffer.compare(Buffer.from(value), Buffer.from(test.from)) >= 0 &&
        Buffer.compare(Buffer.from(value), Buffer.from(test.to)) < 0
      );
    case 'len-range':
      return (
        Array.from(value).length >= test.min && Array.from(value).length <= (test.max ?? Number.MAX_VALUE)
      );
    case 'eq-field':
      return value === row.get(test.other);
    default:
      throw new Error(`no plain meaning for ${test.kind}`);
  }
}
