import type { FieldType } from '../../wire/answer/discovery-types.js';
import { parseBytes } from '../../logql/values/bytes.js';
import { parseGoDuration, parseGoFloat, parseGoInt } from '../../base/time/index.js';

const booleans: ReadonlySet<string> = new Set([
  'true',
  'false',
  'True',
  'False',
  'TRUE',
  'FALSE',
  't',
  'f',
  'T',
  'F',
]);
/** Longer values are strings: no useful number has more characters. */
const longest = 64;

/** The first type that fits a value: integer, number, boolean, duration, size, otherwise string. */
export function fieldTypeOf(value: string): FieldType {
  if (value === '' || value.length > longest) return 'string';
  if (parseGoInt(value).kind === 'ok') return 'int';
  if (parseGoFloat(value).kind === 'ok') return 'float';
  if (booleans.has(value)) return 'boolean';
  if (parseGoDuration(value) !== undefined) return 'duration';
  return parseBytes(value) === undefined ? 'string' : 'bytes';
}
