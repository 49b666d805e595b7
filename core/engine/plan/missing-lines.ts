import type { LineFilterStage, Stage } from '../../logql/ast.js';
import { type FilterTest, lineMeaning } from '../../logql/pipeline/filter-test.js';
import { compileLineFilter } from '../../logql/stages/line-filter.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, exact, field, not, or, present, substring } from '../../victoria/logsql/build.js';
import type { Naming } from '../../victoria/names/naming.js';
import { textsIn } from './rules/line.js';

/**
 * An extra field that makes a line rebuilt from some fields of a row a JSON object, as its whole line is. Plans that rely on it leave queries
 * that use a label of this name to others.
 */
export const rebuiltMark: readonly [name: string, value: string] = ['__rebuilt', ' '];

/** Matches rows without a stored line. The backend's placeholder for it is not a text of the client. */
export function missingLineRows(naming: Naming): LogsqlFilter {
  // VictoriaLogs takes `_msg:*` for `*`. Comparing with an empty text would find rows without any `_msg`, but reads every line.
  const { prefix, exact: custom } = naming.missingLine;
  return or(
    not(present('_msg')),
    field('_msg', { kind: 'exact-prefix', text: prefix }),
    ...(custom === '' ? [] : [exact('_msg', custom)]),
  );
}

/** True if the filters pass rows without a line as they are stored, so that no exception is needed. */
export function letsMissingLinesPass(stages: readonly LineFilterStage[], naming: Naming): boolean {
  const { prefix, exact: custom } = naming.missingLine;
  const placeholders = ['', prefix, ...(custom === '' ? [] : [custom])];
  const tests = stages.map((stage) => compileLineFilter(stage));
  // True only for texts that must not occur: a pattern may match the end of a placeholder, of which only the start is known.
  return (
    stages.every((stage) => stage.op === '!=') &&
    placeholders.every((text) => tests.every((test) => test(text)))
  );
}

/** True if an empty line passes these filters. */
export function emptyLinePasses(stages: readonly LineFilterStage[]): boolean {
  return stages.every((stage) => compileLineFilter(stage)(''));
}

// Line filters on lines that are rebuilt from fields (docs/loki-view.md), as filters on these fields.

/** Maximum number of fields to search. */
const maxFields = 300;

/**
 * Matches rows without a stored line whose rebuilt line (docs/loki-view.md) may pass a line filter; everything if their fields cannot show
 * that. A superset: the filter must still be evaluated on these rows.
 */
export function rebuiltLinesThatPass(stage: LineFilterStage, fields: readonly string[]): LogsqlFilter {
  const { tests, isNegated } = lineMeaning(stage);
  if (isNegated || fields.length > maxFields) return everything;
  return or(...tests.map((test) => passing(test, fields)));
}

function passing(test: FilterTest, fields: readonly string[]): LogsqlFilter {
  if (test.kind === 'equals') return everything;
  return and(...textsIn(test).map((texts) => or(...texts.map((text) => withText(text, fields)))));
}

/**
 * Matches rows in which each part of the text between quotation marks occurs in the name or value of a field. Rebuilt lines contain nothing
 * else.
 */
function withText(text: string, fields: readonly string[]): LogsqlFilter {
  // A backslash is part of an escape, which is spelled differently in the field.
  if (text.includes('\\')) return everything;
  const parts = text.split('"').map((part) => part.replace(escapeEnd, ''));
  return and(
    ...parts
      .filter((part) => part !== '' && !punctuation.has(part))
      .map((part) => or(...fields.map((name) => inField(name, part)))),
  );
}

/** The text may start inside a JSON escape: with the `n` of a line feed, or with the last characters of `\u001f`. */
const escapeEnd = /^(?:[bfnrt]|u$|u?(?:0?0?[01])?[0-9a-f])/;
const punctuation: ReadonlySet<string> = new Set(['{', '}', ':', ',']);

/** A field that rebuilt lines have. */
export interface LineField {
  readonly name: string;
  /** Matches the rows in whose lines it is; undefined for all. */
  readonly within?: LogsqlFilter | undefined;
}

/**
 * Matches exactly the rows without a stored line whose rebuilt line passes line filters; undefined if their fields cannot show that.
 * @param fields all fields that are part of their lines
 */
export function rebuiltLinesExactly(
  stages: readonly Stage[],
  fields: readonly LineField[],
): LogsqlFilter | undefined {
  if (fields.length > maxFields) return undefined;
  const filters: LogsqlFilter[] = [];
  for (const stage of stages) {
    if (stage.kind !== 'line-filter') return undefined;
    const { tests, isNegated } = lineMeaning(stage);
    const terms = tests.map((test) => holding(test, fields));
    if (!terms.every((term) => term !== undefined)) return undefined;
    filters.push(isNegated ? not(or(...terms)) : or(...terms));
  }
  return and(...filters);
}

/** Texts that a line may have between or around its names and values, or that fields spell differently. */
const spansFields = /["\\\p{Cc}\p{Cs}\ufffd]/u;

function holding(test: FilterTest, fields: readonly LineField[]): LogsqlFilter | undefined {
  if (test.kind === 'all') return everything;
  if (test.kind !== 'contains' || test.ignoresCase) return undefined;
  const { text } = test;
  if (spansFields.test(text) || punctuation.has(text)) return undefined;
  const texts = storedTexts(text);
  return or(
    ...fields.map(({ name, within }) => {
      const held = inField(name, text, texts);
      return within === undefined ? held : and(within, held);
    }),
  );
}

/** Matches rows in whose JSON the name or the value of a field has a text, which is stored as one of these. */
function inField(name: string, text: string, stored: readonly string[] = [text]): LogsqlFilter {
  return JSON.stringify(name).includes(text)
    ? present(name)
    : or(...stored.map((each) => substring(name, each)));
}

/** Control characters, each with the end of its JSON escape: `n` for a line feed, `u001f` for a unit separator. */
const escaped = Array.from({ length: 0x20 }, (_, code) => {
  const char = String.fromCharCode(code);
  return [char, JSON.stringify(char).slice(2, -1)] as const;
});

/** The texts that are spelled like this, or end like this, in the JSON of a value: `nope` may also be a line feed before `ope`. */
function storedTexts(text: string): readonly string[] {
  const found = new Set([text]);
  for (const [char, escape] of escaped)
    for (let at = 0; at < escape.length; at += 1) {
      const end = escape.slice(at);
      if (text.startsWith(end)) found.add(char + text.slice(end.length));
      else if (end.startsWith(text)) found.add(char);
    }
  return [...found];
}
