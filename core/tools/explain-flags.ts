import type { CommandFlag } from '../kernel/options/index.js';

/** Parameters of a query, with the names and forms of Loki's API. */
export const parameterFlags: readonly CommandFlag[] = [
  {
    name: 'start',
    kind: 'string',
    description: 'with -run: start of the range; the default is one hour before its end',
  },
  { name: 'end', kind: 'string', description: 'with -run: end of the range; the default is now' },
  { name: 'since', kind: 'string', description: 'with -run: length of the range, if -start is not set' },
  { name: 'step', kind: 'string', description: 'with -run: step of a metric query' },
  { name: 'limit', kind: 'string', description: 'with -run: maximum number of entries of a log query' },
  { name: 'direction', kind: 'string', description: 'with -run: forward or backward' },
  { name: 'time', kind: 'string', description: 'with -run: run as an instant query at this time' },
];

export const runFlags: readonly CommandFlag[] = [
  {
    name: 'run',
    kind: 'boolean',
    description: 'run the query against the backend and print its calls, strategies and timing',
  },
  {
    name: 'again',
    kind: 'boolean',
    description:
      'with -run: run the query twice, without caches, and report the second run, whose estimates use what the first run learned',
  },
  ...parameterFlags,
  { name: 'org-id', kind: 'string', description: 'X-Scope-OrgID of the request' },
];

/** Flags that always apply: the stages of a site see the tenant even if the query is only explained. */
const alwaysTaken: ReadonlySet<string> = new Set(['run', 'org-id']);

/** The given flags that only apply with `-run`. */
export function strayRunFlags(own: ReadonlyMap<string, string>): readonly string[] {
  if (own.get('run') === 'true') return [];
  return runFlags.flatMap(({ name }) =>
    alwaysTaken.has(name) || !own.has(name) ? [] : [`-${name} requires -run`],
  );
}
