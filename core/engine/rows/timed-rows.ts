import type { Upstream } from '../../victoria/upstream/types.js';

/** The part of the backend client that row reads need. */
export type RowsUpstream = Pick<Upstream, 'owner' | 'rows' | 'stats' | 'until'>;

/** The same backend with a deadline for reading rows: what has arrived by then is returned as if there were no more. */
export function timedRows(upstream: Upstream, timeUp: AbortSignal): RowsUpstream {
  const timed = upstream.until?.(timeUp) ?? upstream;
  const isTimeUp = (): boolean => timeUp.aborted;
  return {
    owner: upstream.owner,
    stats: (request) => timed.stats(request),
    ...(timed.until === undefined ? {} : { until: (signal) => timed.until?.(signal) ?? timed }),
    async *rows(request) {
      if (isTimeUp()) return;
      try {
        yield* timed.rows(request);
      } catch (error) {
        if (!isTimeUp()) throw error;
      }
    },
  };
}
