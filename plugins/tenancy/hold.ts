import type { Answer } from '../../core/wire/answer/types.js';
import { readAhead } from '../../core/wire/api/read-ahead.js';
import type { ApiRequest, Operation } from '../../core/wire/api/request.js';
import { apiError } from '../../core/base/errors/table.js';
import { untilAborted } from '../../core/base/errors/until-aborted.js';
import type { TenantLimits } from '../../core/wire/limits/tenant-limits.js';
import type { Exchange } from '../../core/plugin/index.js';
import { checkBytesRead } from './bytes-read.js';
import { emptyAnswer } from './empty-answer.js';
import { oldestOf, withinLength, withinReach } from './reach.js';

/** Answers a request of the tenants; nothing older than `oldestNs` is to be read. */
export type Ask = (exchange: Exchange, oldestNs: bigint | undefined) => Promise<Answer>;

/**
 * Holds a request to those limits of its tenants that are about the whole of it: how far back it may look, how much it may read, and
 * how long it may take. What is refused for its text alone is left to others, unread.
 */
export async function holdToLimits(
  exchange: Exchange,
  limits: TenantLimits,
  nowNs: bigint,
  ask: Ask,
): Promise<Answer> {
  const oldestNs = oldestOf(limits, nowNs);
  return withinTime(exchange, limits.queryTimeoutMs, async (timed) => {
    const allowed = withinLength(timed.request, limits);
    if (oldestNs !== undefined || limits.maxQueryBytesRead > 0) await readAhead(allowed, timed.signal);
    const request = oldestNs === undefined ? allowed : withinReach(allowed, oldestNs);
    if (request === undefined) return emptyAnswer(timed.request);
    if (limits.maxQueryBytesRead > 0)
      await checkBytesRead(request, limits.maxQueryBytesRead, (statistics) =>
        ask(timed.derive({ request: statistics, isFinal: false }), oldestNs),
      );
    return ask(request === timed.request ? timed : timed.derive({ request }), oldestNs);
  });
}

/** Whether a text is one that is refused for its length: it is not to be read first. */
export function isOversized(request: ApiRequest, maxBytes: number): boolean {
  if (maxBytes === 0 || !('query' in request)) return false;
  const { text } = request.query;
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}

/** A tail has a bound of its own, and a deletion is not to be left half-way. */
const untimed: ReadonlySet<Operation> = new Set(['tail', 'delete']);

async function withinTime(
  exchange: Exchange,
  timeoutMs: number,
  work: (exchange: Exchange) => Promise<Answer>,
): Promise<Answer> {
  if (timeoutMs === 0 || untimed.has(exchange.request.op)) return work(exchange);
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(apiError('queryTimeout', {})),
    Math.min(timeoutMs, maxTimerMs),
  );
  try {
    const timed = exchange.derive({ signal: controller.signal });
    return await untilAborted(work(timed), timed.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The longest that a timer can wait. */
const maxTimerMs = 2 ** 31 - 1;
