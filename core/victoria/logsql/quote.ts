import type { FieldRef } from './ast.js';
import { reservedWords } from './words-table.js';

const bareName = /^[A-Za-z_][A-Za-z0-9_.]*$/;
const bareSize = /^-?[0-9A-Za-z.]+$|^\/[0-9]+$/;
// Characters to escape between double quotes: the quote, the backslash, control and invisible characters, lone surrogates.
const unsafe =
  /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Writes any text as a double-quoted LogsQL string; the only way to put untrusted text into a query. Lone surrogates, which UTF-8 cannot
 * encode, become U+FFFD as in any UTF-8 output.
 */
export function quoteText(text: string): string {
  return `"${text.replace(unsafe, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  switch (character) {
    case '"':
      return '\\"';
    case '\\':
      return '\\\\';
    case '\n':
      return '\\n';
    case '\t':
      return '\\t';
    case '\r':
      return '\\r';
    default: {
      const code = character.charCodeAt(0);
      const shown = code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
      return `\\u${shown.toString(16).padStart(4, '0')}`;
    }
  }
}

/** Writes a field name, unquoted when it is unambiguous. */
export function quoteName(name: string): string {
  return bareName.test(name) && !reservedWords.has(name.toLowerCase()) ? name : quoteText(name);
}

/** A name with a trailing `*` at a position where the grammar parses it as a prefix even if quoted. */
export class InexpressibleNameError extends Error {
  override readonly name = 'InexpressibleNameError';
}

/**
 * Writes a field in a list such as that of `fields`, where `"a*"` means a prefix.
 * @throws InexpressibleNameError for a name that ends with `*`
 */
export function quoteListed(field: FieldRef): string {
  if (field.kind === 'prefix') {
    if (field.prefix === '') return '*';
    const name = quoteName(field.prefix);
    return name === field.prefix ? `${name}*` : quoteText(`${field.prefix}*`);
  }
  if (field.name.endsWith('*')) {
    throw new InexpressibleNameError(
      `the field name ${quoteText(field.name)} cannot be listed, since it ends with "*"`,
    );
  }
  return quoteName(field.name);
}

/** Writes a bucket size, an offset or a number; unquoted when it is unambiguous. */
export function quoteSize(text: string): string {
  return bareSize.test(text) ? text : quoteText(text);
}

export function printNanoseconds(ns: bigint): string {
  return ns % 1_000_000_000n === 0n ? `${(ns / 1_000_000_000n).toString()}s` : `${ns.toString()}ns`;
}
