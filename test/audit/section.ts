import type { Lab } from './lab.js';

/** A claim of the specification, with a probe that checks it on a running proxy. */
export interface Claim {
  /** Lines of the specification, such as `405` or `42-45, 418`. */
  readonly lines: string;
  /** A short summary of these lines. */
  readonly says: string;
  /** Throws if the claim is false. For an intended difference, throws if the proxy does not behave as documented. */
  readonly probe: (lab: Lab) => Promise<void>;
  /** For an intended difference: the exact beginning of the sentence about it in docs/differences.md. */
  readonly differs?: string;
  /** Like `differs`, for a feature that does not exist. */
  readonly missing?: string;
  /** True if the probe is quick, so that `npm test` runs it. */
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
