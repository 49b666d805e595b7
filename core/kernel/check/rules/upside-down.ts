import { findOption } from '../option-lookup.js';
import type { Complaint, TextRule } from '../rule.js';

/** Pairs of flags of which the first may not exceed the second. */
const pairs: readonly (readonly [least: string, most: string])[] = [
  ['query-range-adaptive-min-parallel', 'query-range-adaptive-max-parallel'],
  ['query-range-latency-target', 'query-range-latency-backoff'],
  ['backend-min-concurrent-metadata-scans', 'backend-max-concurrent-metadata-scans'],
];

/** An upper bound of 0 means none. */
const unbounded: ReadonlySet<string> = new Set(['backend-max-concurrent-metadata-scans']);

/** R046: a lower bound is not above its upper bound. */
export const upsideDown: TextRule = {
  id: 'R046',
  title: 'a lower bound is not above its upper bound',
  tier: 'meaning',
  severity: 'error',
  docs: `The first option of each pair may not exceed the second: ${pairs.map(([least, most]) => `\`-${least}\` and \`-${most}\``).join(', ')}.`,
  check(draft) {
    return pairs.flatMap(([leastFlag, mostFlag]): readonly Complaint[] => {
      const least = findOption(draft, leastFlag);
      const most = findOption(draft, mostFlag);
      if (typeof least?.value !== 'number' || typeof most?.value !== 'number' || least.value <= most.value)
        return [];
      if (most.value === 0 && unbounded.has(mostFlag)) return [];
      // The value that was set is the one to change; the defaults of both fit together.
      const culprit = least.origin.kind === 'default' ? most : least;
      const message = `${least.name} is above ${most.name}`;
      return [
        { at: culprit.at, message, fix: `lower ${least.definition.key} or raise ${most.definition.key}` },
      ];
    });
  },
};
