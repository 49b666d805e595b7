/** Random values for benchmark data. */
export interface Chances {
  /** A number in [0, 1). */
  next(): number;
  happens(share: number): boolean;
  /** An integer; both bounds are inclusive. */
  whole(least: number, most: number): number;
  pick<Value>(values: readonly [Value, ...Value[]]): Value;
  weighted<Value>(values: readonly (readonly [value: Value, weight: number])[]): Value;
  /** Random hexadecimal digits. */
  hex(length: number): string;
  /** One of a few thousand made-up words. */
  word(): string;
  words(count: number): string;
  ip(): string;
  uuid(): string;
}

const syllables = 'ba ce do fi gu ka le mi no pu ra se ti vo xa ze lor ster mon ker'.split(' ');

/** A seeded generator: equal seeds give equal sequences. */
export function chances(seed: number): Chances {
  const next = mulberry32(seed);
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  const hex = (length: number): string => {
    let text = '';
    while (text.length < length) text += whole(0, 0xffffff).toString(16).padStart(6, '0');
    return text.slice(0, length);
  };
  const word = (): string => {
    let text = '';
    for (let left = whole(2, 3); left > 0; left -= 1) text += syllables[whole(0, syllables.length - 1)] ?? '';
    return text;
  };
  return {
    next,
    whole,
    hex,
    word,
    happens: (share) => next() < share,
    pick: (values) => values[whole(0, values.length - 1)] ?? values[0],
    weighted(values) {
      let left = next() * values.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [value, weight] of values) if ((left -= weight) < 0) return value;
      const [last] = values.slice(-1);
      if (last === undefined) throw new Error('there is nothing to choose from');
      return last[0];
    },
    words: (count) => Array.from({ length: count }, word).join(' '),
    ip: () => `10.${whole(0, 31)}.${whole(0, 255)}.${whole(1, 254)}`,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  };
}

function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
