/**
 * Converts the text of a flag or an environment variable to the value that the YAML file would contain. Validation is left to validate.ts.
 */
import { printDuration } from '../../base/time/option-duration.js';
import { valueKind, type ValueSchema } from './schema.js';

/** A parsed text, or the reason why it is invalid, which completes the sentence "flag -x must be ...". */
type ReadText =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'problem'; readonly problem: string };

/** The words that Go's flag package accepts as booleans, which operators are used to. */
const TRUE_WORDS: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Parses the text of a flag or environment variable by its schema's type; durations stay texts. */
export function readText(schema: ValueSchema, text: string): ReadText {
  switch (valueKind(schema)) {
    case 'boolean':
      if (TRUE_WORDS.has(text)) return value(true);
      return FALSE_WORDS.has(text) ? value(false) : problem('must be true or false');
    case 'integer':
      return /^[+-]?\d{1,15}$/.test(text) ? value(Number(text)) : problem('must be a whole number');
    case 'number':
      return readNumber(text);
    case 'duration':
    case 'string':
      return value(text);
    case 'list':
      return readList(schema, text);
    case 'json':
      return readJson(text);
  }
}

/** The text of a flag that sets an option to a value; the inverse of `readText`. */
export function printText(schema: ValueSchema, option: unknown): string {
  if (typeof option === 'string') return option;
  if (valueKind(schema) === 'duration') return printDuration(Number(option));
  if (valueKind(schema) !== 'list' || !Array.isArray(option)) return JSON.stringify(option);
  const items: readonly unknown[] = option;
  const separator = schema['x-list'] === 'lines' ? '\n' : ',';
  const text = items.map(String).join(separator);
  const again = readList(schema, text);
  const isFaithful = again.kind === 'value' && JSON.stringify(again.value) === JSON.stringify(items);
  return isFaithful ? text : JSON.stringify(items);
}

function readNumber(text: string): ReadText {
  const isNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/.test(text);
  return isNumber && Number.isFinite(Number(text)) ? value(Number(text)) : problem('must be a number');
}

/** Items separated by commas or line breaks, trimmed; a JSON array if items contain such characters. */
function readList(schema: ValueSchema, text: string): ReadText {
  if (text.trimStart().startsWith('[')) {
    const json = readJson(text);
    if (json.kind === 'value') return json;
  }
  const items = text.split(schema['x-list'] === 'lines' ? '\n' : ',').map((item) => item.trim());
  return value(items.filter((item) => item !== ''));
}

function readJson(text: string): ReadText {
  try {
    const json: unknown = JSON.parse(text);
    return value(json);
  } catch (error) {
    return problem(`must be JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function value(read: unknown): ReadText {
  return { kind: 'value', value: read };
}
function problem(text: string): ReadText {
  return { kind: 'problem', problem: text };
}
