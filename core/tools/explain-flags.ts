import type { CommandFlag } from '../kernel/options/index.js';

/** Parameters of a query, with the names and forms of Loki's API. */
export const parameterFlags: readonly CommandFlag[] = [
  {
    name: 'start',
    kind: 'string',
    description: 'with -run: begin of the range, default an hour before its end',
  },
  { name: 'end', kind: 'string', description: 'with -run: end of the range, default now' },
  { name: 'since', kind: 'string', description: 'with -run: length of the range, where it has no start' },
  { name: 'step', kind: 'string', description: 'with -run: step of a metric query' },
  { name: 'limit', kind: 'string', description: 'with -run: entries of a log query' },
  { name: 'direction', kind: 'string', description: 'with -run: forward or backward' },
  { name: 'time', kind: 'string', description: 'with -run: run as an instant query at this time' },
];

export const runFlags: readonly CommandFlag[] = [
  { name: 'run', kind: 'boolean', description: 'run the query against the backend, and print what happened' },
  {
    name: 'again',
    kind: 'boolean',
    description:
      'with -run: run it twice, without caches, and report the second time, when estimates are made of what the first has learned',
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
    alwaysTaken.has(name) || !own.has(name) ? [] : [`-${name} needs -run`],
  );
}
