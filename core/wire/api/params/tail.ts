import { apiError } from '../../../base/errors/table.js';
import { nanosPerSecond } from '../../../base/time/index.js';
import type { FollowRules } from '../follow-rules.js';
import { Query } from '../query.js';
import type { TailRequest } from '../request.js';
import { hourNs, type ParamContext } from './context.js';
import { first, readInt, readLimit, readTimeRange, type Params } from './reader.js';

const maxDelaySeconds = 5n;
const maxUint32 = 4_294_967_295n;

/** Reads the parameters of a tail in Loki's order; `end` is validated and then ignored because a tail has no end. */
export function parseTail(params: Params, context: ParamContext, follow: FollowRules): TailRequest {
  const query = new Query(first(params, 'query'), context.dottedNames);
  const limit = readLimit(params, 'limit', context.defaultLimit);
  const { startNs } = readTimeRange(params, context, hourNs);
  const delayNs = readDelay(params);
  return { op: 'tail', query, limit, range: { startNs, endNs: context.nowNs }, delayNs, follow };
}

/** Reads `delay_for`, in whole seconds. */
function readDelay(params: Params): bigint {
  const seconds = readInt(params, 'delay_for') ?? 0n;
  if (seconds < 0n || seconds > maxUint32) throw apiError('delayOutOfRange', { value: String(seconds) });
  if (seconds > maxDelaySeconds) throw apiError('delayTooLong', { max: String(maxDelaySeconds) });
  return seconds * nanosPerSecond;
}
