import { hash } from 'node:crypto';
import type { GoldenCase } from '../conformance/cases.js';

/** A configuration in which every answer must be the same. */
export interface Mode {
  readonly name: string;
  readonly flags: readonly (readonly [flag: string, value: string])[];
  /** True to send the requests once before, so that caches have their answers. */
  readonly isWarm?: boolean;
}

export const defaultMode: Mode = { name: 'default', flags: [] };

export const otherModes: readonly Mode[] = [
  { name: 'from caches', flags: [], isWarm: true },
  {
    name: 'without caches',
    flags: [
      ['cache-disabled', 'true'],
      ['compat-cache-enabled', 'false'],
      ['query-range-windowing', 'false'],
    ],
  },
  { name: 'pushdown off', flags: [['pushdown', 'off']] },
  { name: 'windows of 13m', flags: [['query-range-split-interval', '13m']] },
];

/** One of `oneOf` cases; each mode and seed has another sample. */
export function sampleOf(
  cases: readonly GoldenCase[],
  { name }: Mode,
  oneOf: number,
  seed = '1',
): readonly GoldenCase[] {
  const chanceOf = (id: string): number =>
    Number.parseInt(hash('sha1', `${seed} ${name} ${id}`).slice(0, 8), 16);
  return cases.filter(({ request }) => chanceOf(request.id) % oneOf === 0);
}
