/**
 * Values as texts: what a flag or an environment variable holds, turned into the value that the YAML file would hold.
 * Whether the value is allowed is the schema's matter (validate.ts).
 */
import { printDuration } from '../../base/time/option-duration.js';
import { valueKind, type ValueSchema } from './schema.js';

/** A text that was read, or why it could not be; the reason completes the sentence "flag -x must be ...". */
export type ReadText =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'problem'; readonly problem: string };

/** The words that Go's flag package takes for booleans; operators bring them along. */
const TRUE_WORDS: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Reads the text of a flag or environment variable in the way its schema's type asks for; durations stay texts. */
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

/** Items between commas or line ends, without blanks around them; a JSON array where items hold such characters. */
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
