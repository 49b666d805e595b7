/** Endpoint plugin `delete`: the only write operation, protected by safeguards (docs/protocol/requests.md#deletion). */
import type { DeleteOptions } from '../../core/base/options.gen.js';
import { defineEndpoint, type HttpCall, type RouteHandler } from '../../core/plugin/index.js';
import { Follower } from './follower.js';
import { deleteMetrics } from './metrics.js';
import { type DeleteRequest, type DottedNames, Query } from '../../core/wire/api/request.js';
import { first, type Params } from '../../core/wire/api/params/reader.js';
import { apiError } from '../../core/base/errors/table.js';
import { firstHeader } from '../../core/http/admission.js';
import { headerNames } from '../../core/wire/routes-table.js';
import { parseTimestamp, printGoDuration, TimestampError } from '../../core/base/time/index.js';
import { quoteGo } from '../../core/base/label-set.js';

export default defineEndpoint<DeleteOptions, typeof deleteMetrics>({
  name: 'delete',
  summary:
    'Guarded deletion of logs: requires confirmation, a time range and named streams of one tenant, and is logged.',
  metrics: deleteMetrics,
  create(options, host) {
    const safeguards: Safeguards = {
      maxRangeNs: BigInt(Math.round(options.maxRange)) * 1_000_000n,
      dottedNames: host.naming.dottedNames,
    };
    const follower = new Follower(options, host);
    return {
      routes: new Map<string, RouteHandler>([
        [
          'delete',
          (call) =>
            call.ask({
              ...readDeletion(call, safeguards),
              around: (tenant, send) => follower.around(tenant, call.caller, send),
            }),
        ],
      ]),
      start: (signal) => follower.start(signal),
      stop: () => follower.stop(),
    };
  },
});

interface Safeguards {
  /** Maximum time range. */
  readonly maxRangeNs: bigint;
  readonly dottedNames: DottedNames;
}

/** Texts that select every stream: `{}` and `*`. Equivalent forms are detected when the query is planned. */
const wildcard = /^\s*(?:\*|\{\s*\})?\s*$/;

/**
 * Parses a deletion and checks its safeguards in order (docs/protocol/requests.md#deletion). Throws the ApiError of the first one that
 * fails.
 */
export function readDeletion(
  { method, caller, params }: Pick<HttpCall, 'method' | 'caller' | 'params'>,
  { maxRangeNs, dottedNames }: Safeguards,
): DeleteRequest {
  if (method !== 'POST') throw apiError('deleteMethod', {});
  if (firstHeader(caller.headers, headerNames.deleteConfirmation) !== 'true') {
    throw apiError('deleteUnconfirmed', {});
  }
  const text = first(params, 'query');
  if (text === '') throw apiError('deleteWithoutQuery', {});
  if (wildcard.test(text)) throw apiError('deleteWildcard', { example: '{app="nginx"}' });
  if (first(params, 'start') === '' || first(params, 'end') === '') throw apiError('deleteWithoutRange', {});
  const startNs = readTime(params, 'start');
  const endNs = readTime(params, 'end');
  const lengthNs = endNs - startNs;
  if (lengthNs > maxRangeNs) {
    throw apiError('deleteTooWide', {
      length: printGoDuration(lengthNs),
      limit: printGoDuration(maxRangeNs),
    });
  }
  if (lengthNs <= 0n) throw apiError('deleteEndBeforeStart', {});
  return { op: 'delete', query: new Query(text, dottedNames), range: { startNs, endNs } };
}

function readTime(params: Params, name: 'start' | 'end'): bigint {
  const text = first(params, name);
  try {
    return parseTimestamp(text);
  } catch (error) {
    if (!(error instanceof TimestampError)) throw error;
    throw apiError('deleteBadTime', { name, value: quoteGo(text) });
  }
}
