import type { Random } from '../../watch/random.js';
import { anyText, fieldName, numbers } from './values.js';

/** JSON text with a random structure: nested, with duplicate keys, various number formats and occasional white space. */
export function randomJson(random: Random, depth = 3): string {
  const members = random.several(7, () => member(random, depth), 1);
  const repeated = random.chance(0.15) ? [...members, member(random, depth), random.pick(members)] : members;
  return `{${repeated.join(random.chance(0.2) ? ', ' : ',')}}`;
}

function member(random: Random, depth: number): string {
  return `${quoted(random, fieldName(random))}:${random.chance(0.1) ? ' ' : ''}${value(random, depth)}`;
}

function value(random: Random, depth: number): string {
  const kind = random.below(20);
  if (kind < 9) return quoted(random, anyText(random));
  if (kind < 13) return number(random);
  if (kind === 13) return random.pick(['true', 'false']);
  if (kind === 14) return 'null';
  if (kind === 15) return `[${random.several(3, () => (depth > 0 ? value(random, depth - 1) : '1')).join(',')}]`;
  if (kind === 16) return random.pick(['{}', '[]', '""']);
  return depth > 0 ? randomJson(random, depth - 1) : '{}';
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const jsonNumbers = numbers.filter((text) => jsonNumber.test(text));

function number(random: Random): string {
  return random.chance(0.5) ? String(random.below(1000)) : random.pick(jsonNumbers);
}

/** A JSON string, sometimes with unnecessary escapes. */
function quoted(random: Random, text: string): string {
  const plain = JSON.stringify(text);
  if (!random.chance(0.08)) return plain;
  return plain.replace(/[a-c/]/g, (letter) =>
    letter === '/' ? '\\/' : `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** logfmt with a random structure: keys that are repeated or have no value, values with and without quotes. */
export function randomLogfmt(random: Random): string {
  const pairs = random.several(8, () => pair(random), 1);
  const more = random.chance(0.15) ? [...pairs, random.pick(pairs)] : pairs;
  return more.join(random.chance(0.05) ? '  ' : ' ');
}

function pair(random: Random): string {
  const key = fieldName(random);
  if (random.chance(0.06)) return key;
  const text = random.chance(0.2) ? String(random.below(1000)) : anyText(random);
  if (/^[^\s"=\\]+$/.test(text) && random.chance(0.8)) return `${key}=${text}`;
  if (random.chance(0.03)) return `${key}="${text}`;
  return random.chance(0.04) ? `${key}=` : `${key}=${JSON.stringify(text)}`;
}
