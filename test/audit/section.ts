import type { Lab } from './lab.js';

/** Something that the specification says, and how a running proxy is asked whether it does so. */
export interface Claim {
  /** Lines of the specification: `405`, or `42-45, 418`. */
  readonly lines: string;
  /** What they say, in a few words. */
  readonly says: string;
  /** Throws where it is not so. Where the proxy differs on purpose, it throws where the difference is not as it is told. */
  readonly probe: (lab: Lab) => Promise<void>;
  /** Where the proxy does something else on purpose: how the sentence about it in docs/differences.md begins, word by word. */
  readonly differs?: string;
  /** As `differs`, for what does not exist at all. */
  readonly missing?: string;
  /** It is quick, and `npm test` runs it. */
  readonly isQuick?: true;
}

/** The claims about one part of the specification. */
export interface Section {
  readonly title: string;
  readonly claims: readonly Claim[];
}

/** The numbers of lines in a text such as `42-45, 418`. */
export function lineNumbers(lines: string): readonly number[] {
  return lines.split(', ').flatMap((part) => {
    const [first = NaN, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}

/** Throws the text unless the condition holds. */
export function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}

/** Throws unless two values have the same JSON. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const [seen, wanted] = [JSON.stringify([actual]), JSON.stringify([expected])];
  expect(seen === wanted, `${what}: expected ${wanted}, got ${seen.slice(0, 300)}`);
}
