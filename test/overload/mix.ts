import type { Random } from '../watch/random.js';

/**
 * A kind of request with its share of a typical site's load: mostly small and medium requests, and fewer heavy ones than the gates allow.
 */
export interface Kind {
  readonly name: string;
  readonly share: number;
  /** The path of one request; each has another window, so that no cache answers it. */
  readonly path: (random: Random, endMs: number) => string;
}

export const apps = 20;
const minuteMs = 60_000;

export const mix: readonly Kind[] = [
  {
    name: 'label values, 15 minutes',
    share: 0.25,
    path: (random, endMs) => at('label/app/values', '', window(random, endMs, 15)),
  },
  {
    name: 'newest 50 lines of a stream, 5 minutes',
    share: 0.35,
    path: (random, endMs) =>
      at('query_range', `${log(random, '|= "request"')}&limit=50`, window(random, endMs, 5)),
  },
  {
    name: 'lines by level, counted by the backend, 30 minutes',
    share: 0.25,
    path: (random, endMs) =>
      at(
        'query_range',
        `${query(`sum by (level) (count_over_time({app="${app(random)}"}[1m]))`)}&step=60`,
        window(random, endMs, 30),
      ),
  },
  {
    name: 'parsed lines, counted by the proxy, 10 minutes',
    share: 0.145,
    path: (random, endMs) =>
      at(
        'query_range',
        `${query(`sum by (status) (count_over_time({app="${app(random)}"} | json | took > 100 [1m]))`)}&step=60`,
        window(random, endMs, 10),
      ),
  },
  {
    name: 'heavy: counted over 7 hours',
    share: 0.005,
    path: (random, endMs) =>
      at(
        'query_range',
        `${query(`sum(count_over_time({app="${app(random)}"}[1h]))`)}&step=600`,
        window(random, endMs, 7 * 60),
      ),
  },
];

/** The requests of the other tenant during the flood. */
export const smallRequest: Kind = {
  name: 'small requests of another tenant',
  share: 1,
  path: (random, endMs) => at('query_range', `${log(random, '')}&limit=10`, window(random, endMs, 1)),
};

/** The requests of slow readers: about 1 MB of lines. */
export const largeRequest: Kind = {
  name: 'many lines',
  share: 1,
  path: (random, endMs) => at('query_range', `${query('{app=~".+"}')}&limit=5000`, window(random, endMs, 30)),
};

export function choose(kinds: readonly Kind[], random: Random): Kind {
  let left = random.next() * kinds.reduce((sum, { share }) => sum + share, 0);
  for (const kind of kinds) {
    left -= kind.share;
    if (left < 0) return kind;
  }
  throw new Error('a mix needs kinds with shares');
}

const app = (random: Random): string => `app-${random.below(apps)}`;
const query = (logql: string): string => `query=${encodeURIComponent(logql)}`;
const log = (random: Random, filter: string): string => query(`{app="${app(random)}"} ${filter}`);

function at(path: string, parameters: string, range: string): string {
  return `/loki/api/v1/${path}?${parameters}${parameters === '' ? '' : '&'}${range}`;
}

/** A window of `minutes` that ends within the last half hour of the data, with millisecond precision. */
function window(random: Random, endMs: number, minutes: number): string {
  const end = Math.floor(endMs - random.next() * 30 * minuteMs);
  return `start=${end - minutes * minuteMs}000000&end=${end}000000`;
}
