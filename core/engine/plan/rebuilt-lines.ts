import type { LineFilterStage } from '../../logql/ast.js';
import { lineMeaning, type FilterTest } from '../../logql/pipeline/filter-meaning.js';
import { anyCasePattern } from '../../logql/pipeline/text-in-any-case.js';
import { requiredTexts } from '../../logql/regexp/required.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { and, everything, or, present, substring } from '../../victoria/logsql/build.js';

/** More fields are not searched. */
const maxFields = 300;

/**
 * Rows without a stored line whose rebuilt line (docs/loki-view.md) may pass a line filter; everything where that cannot be said of their fields.
 * A superset: the filter has to look at the lines of these rows.
 */
export function rebuiltLinesThatPass(stage: LineFilterStage, fields: readonly string[]): LogsqlFilter {
  const { tests, isNegated } = lineMeaning(stage);
  if (isNegated || fields.length > maxFields) return everything;
  return or(...tests.map((test) => passing(test, fields)));
}

function passing(test: FilterTest, fields: readonly string[]): LogsqlFilter {
  switch (test.kind) {
    case 'contains':
      return test.ignoresCase ? withTextsOf(anyCasePattern(test.text), fields) : withText(test.text, fields);
    case 'regexp':
      return withTextsOf(test.pattern, fields);
    case 'all':
    case 'not-empty':
    case 'equals':
    case 'pattern':
    case 'ip':
      return everything;
  }
}

function withTextsOf(pattern: string, fields: readonly string[]): LogsqlFilter {
  return and(...requiredTexts(pattern).map((texts) => or(...texts.map((text) => withText(text, fields)))));
}

/** Rows with a field whose name or value holds each part of the text between quotation marks, which is all that such a line is made of. */
function withText(text: string, fields: readonly string[]): LogsqlFilter {
  // A backslash belongs to an escape, which has another spelling in the field.
  if (text.includes('\\')) return everything;
  const parts = text.split('"').map((part) => part.replace(escapeEnd, ''));
  return and(
    ...parts
      .filter((part) => part !== '' && !punctuation.has(part))
      .map((part) =>
        or(...fields.map((name) => (name.includes(part) ? present(name) : substring(name, part)))),
      ),
  );
}

/** A text may begin inside a JSON escape: with the `n` of `\n`, or with the last characters of `\u001f`. */
const escapeEnd = /^(?:[bfnrt]|u$|u?(?:0?0?[01])?[0-9a-f])/;
const punctuation: ReadonlySet<string> = new Set(['{', '}', ':', ',']);
