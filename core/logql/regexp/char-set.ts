/** Code points as sorted ranges that neither touch nor overlap. */
export type CharSet = readonly (readonly [number, number])[];

const last = 0x10ffff;

export function singleChar(code: number): CharSet {
  return [[code, code]];
}

export function unionOf(sets: readonly CharSet[]): CharSet {
  const out: [number, number][] = [];
  for (const [low, high] of sets.flat().sort((a, b) => a[0] - b[0])) {
    const before = out.at(-1);
    if (before !== undefined && low <= before[1] + 1) before[1] = Math.max(before[1], high);
    else out.push([low, high]);
  }
  return out;
}

export function complementOf(set: CharSet): CharSet {
  const out: [number, number][] = [];
  let next = 0;
  for (const [low, high] of set) {
    if (low > next) out.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= last) out.push([next, last]);
  return out;
}

export function areDisjoint(a: CharSet, b: CharSet): boolean {
  return a.every(([low, high]) => b.every(([from, to]) => to < low || from > high));
}

/** The only code point of a set, or undefined. */
export function onlyChar(set: CharSet): number | undefined {
  const [range, ...more] = set;
  return range !== undefined && more.length === 0 && range[0] === range[1] ? range[0] : undefined;
}

/** The first few code points of a set. */
export function codesOf(set: CharSet, most = 3): readonly number[] {
  const codes: number[] = [];
  for (const [low, high] of set) {
    for (let code = low; code <= high; code += 1) {
      if (codes.length === most) return codes;
      codes.push(code);
    }
  }
  return codes;
}

const digits: CharSet = [[0x30, 0x39]];
const wordChars: CharSet = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const spaces: CharSet = [
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
];
export const anyChar: CharSet = [[0, last]];
export const notLineFeed: CharSet = complementOf(singleChar(0x0a));

/** Character classes by the letter of their escape. */
export const perlClasses: ReadonlyMap<string, CharSet> = new Map([
  ['d', digits],
  ['w', wordChars],
  ['s', spaces],
  ['D', complementOf(digits)],
  ['W', complementOf(wordChars)],
  ['S', complementOf(spaces)],
]);

/** Control characters by the letter of their escape. */
export const controls: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['f', 12],
  ['n', 10],
  ['r', 13],
  ['t', 9],
  ['v', 11],
]);
