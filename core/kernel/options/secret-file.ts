import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { describeSystemError, isSystemError } from '../../base/errors/system-error.js';
import type { OptionSchema, ValueSchema } from './schema.js';
import { readFile } from 'node:fs/promises';

/** Maximum size of a secret's file; longer files are something else. */
const maxBytes = 64 * 1024;

/** Adds an option `<key>File`, which names a file with the value, for every secret option of a schema. */
export function withSecretFiles(schema: OptionSchema): OptionSchema {
  const { properties } = schema;
  if (properties === undefined) return schema;
  const entries = Object.entries(properties).flatMap(([key, option]): [string, ValueSchema][] => {
    const name = `${key}File`;
    const isSecret = option['x-secret'] === true || option.items?.['x-secret'] === true;
    if (!isSecret || Object.hasOwn(properties, name)) return [[key, option]];
    return [
      [key, option],
      [name, fileOption(key, option)],
    ];
  });
  return { ...schema, properties: Object.fromEntries(entries) };
}

function fileOption(key: string, option: ValueSchema): ValueSchema {
  const { 'x-flag': flag, 'x-shares': shares } = option;
  return {
    type: 'string',
    minLength: 1,
    description: `File that contains ${key}, without the line break at its end; read at startup and at each reload.`,
    'x-secret-file': key,
    // An answer depends on the secret itself, whatever its source.
    'x-neutral': true,
    ...(flag === undefined ? {} : { 'x-flag': `${flag}-file` }),
    ...(shares === undefined ? {} : { 'x-shares': `${shares}-file` }),
  };
}

/** The text of a secret's file, or the reason why it cannot be used, which completes a sentence that starts with the path. */
export function readSecretFile(path: string): { readonly text: string } | { readonly reason: string } {
  let file: number | undefined;
  try {
    // Opening a pipe would wait for its writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (stat.isDirectory()) return { reason: 'is a directory' };
    if (!stat.isFile()) return { reason: 'is not a regular file' };
    const bytes = Buffer.alloc(maxBytes + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (length > maxBytes) return { reason: `is larger than ${maxBytes} bytes` };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
    const secret = text.replace(/(?:\r?\n)+$/, '');
    return secret === '' ? { reason: 'is empty' } : { text: secret };
  } catch (error) {
    return {
      reason: isSystemError(error) ? `cannot be read: ${describeSystemError(error)}` : 'is not UTF-8 text',
    };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads a file that an option names; an Error names the flag, the path and the reason. */
export async function readOptionFile(flag: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`${flag}: cannot read ${path}: ${describeSystemError(error)}`, { cause: error });
  }
}
