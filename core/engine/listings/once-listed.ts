import { printQuery } from '../../victoria/logsql/print.js';
import type {
  BackendValue,
  ListingRequest,
  StreamsAndNames,
  Upstream,
} from '../../victoria/upstream/types.js';
import { withList } from '../../victoria/upstream/with-list.js';

/** The same backend for one request, with each listing requested only once, even if several parts of the request need it. */
export function onceListed(upstream: Upstream): Upstream {
  const lists = new Map<string, Promise<readonly BackendValue[]>>();
  const boths = new Map<string, Promise<StreamsAndNames>>();
  return withList(upstream, (asked) => {
    const listBoth = asked.listBoth?.bind(asked);
    return {
      list: async (request) => {
        const { listing, field, hits } = request;
        const rows = keyOf(request);
        const both = await boths.get(rows);
        if (listing === 'streams' && both !== undefined) return both.streams;
        if (listing === 'field_names' && both !== undefined) return both.names;
        const key = JSON.stringify([listing, field, hits, rows]);
        return once(lists, key, () => asked.list(request));
      },
      ...(listBoth && { listBoth: (request) => once(boths, keyOf(request), () => listBoth(request)) }),
    };
  });
}

function keyOf({ query, range }: Pick<ListingRequest, 'query' | 'range'>): string {
  return `${range.startNs} ${range.endNs} ${printQuery(query)}`;
}

function once<Answer>(
  answers: Map<string, Promise<Answer>>,
  key: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  let answer = answers.get(key);
  if (answer === undefined) answers.set(key, (answer = ask()));
  return answer;
}
