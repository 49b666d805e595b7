import type { FieldRef } from './ast.js';
import { reservedWords } from './words-table.js';

const bareName = /^[A-Za-z_][A-Za-z0-9_.]*$/;
const bareSize = /^-?[0-9A-Za-z.]+$|^\/[0-9]+$/;
// What must not stand raw between double quotes: the quote, the backslash, control and invisible characters, lone surrogates.
const unsafe =
  /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Writes any text as a double-quoted LogsQL string. The only way by which foreign text enters a query.
 * Lone surrogates, which UTF-8 cannot carry, become U+FFFD as they do on every wire.
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

/** Writes a field name, bare when that cannot be taken for anything else. */
export function quoteName(name: string): string {
  return bareName.test(name) && !reservedWords.has(name.toLowerCase()) ? name : quoteText(name);
}

/** A name in a place where the grammar reads a trailing `*` as a prefix even between quotes. */
export class InexpressibleNameError extends Error {
  override readonly name = 'InexpressibleNameError';
}

/**
 * Writes a field of a list such as that of `fields`, where `"a*"` means a prefix.
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

/** Writes a bucket size, an offset or a number: bare when it is plainly one. */
export function quoteSize(text: string): string {
  return bareSize.test(text) ? text : quoteText(text);
}

/** Writes nanoseconds as a duration. */
export function printDuration(ns: bigint): string {
  return ns % 1_000_000_000n === 0n ? `${(ns / 1_000_000_000n).toString()}s` : `${ns.toString()}ns`;
}
