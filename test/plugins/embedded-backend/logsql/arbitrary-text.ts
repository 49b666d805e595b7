import fc from 'fast-check';
import { anyCharacter } from '../../../setup/text.js';

const nasty = [
  '',
  '"',
  '\\',
  '`',
  "'",
  '*',
  '|',
  ')',
  '(',
  '} {',
  '#',
  ';',
  ' or ',
  ' | delete *',
  '"} or {a="',
  '") or *',
  '\n',
  '\u0000',
  '\u2028',
  '😀',
  'ключ',
  'not',
  'stats',
  'in',
  '$1',
  '<f>',
  '\u007f',
  '{}',
  '_time:5m',
  'a"b\\c',
  '\\" or "',
  '日本',
  'é',
];

/** Any text that UTF-8 can encode, often one that looks like syntax. */
export const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 8 }),
  fc.constantFrom(...nasty),
  fc.string({ maxLength: 8 }),
);
