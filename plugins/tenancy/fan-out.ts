import { mergeSteps, weighAnswer, type MergeOptions } from '../../core/wire/answer/merge/index.js';
import type { Answer } from '../../core/wire/answer/types.js';
import { ApiError } from '../../core/base/errors/api-error.js';
import { inParallel } from '../../core/base/pace/in-parallel.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import type { ErrorEntry } from '../../core/base/errors/api-error.js';
import { apiError, errorTable } from '../../core/base/errors/table.js';

export interface FanOutOptions {
  readonly merge: MergeOptions;
  /** Maximum size of the merged answer; 0 means unlimited. */
  readonly maxBytes: number;
  /** Cancels all parts. */
  readonly signal: AbortSignal;
}

/** Maximum number of concurrent parts; each may make several backend calls. */
const parallel = 16;

/**
 * Runs the parts with limited concurrency and merges their answers in the order of the parts, regardless of the order of arrival. A worker
 * whose answer waits for its turn does not start another part, so memory only contains the merged answer and the parts in flight. The first
 * failure cancels all others and becomes the failure of the whole. Undefined without parts.
 */
export async function fanOut<Part>(
  parts: readonly Part[],
  run: (part: Part, signal: AbortSignal) => Promise<Answer>,
  options: FanOutOptions,
): Promise<Answer | undefined> {
  let merged: Answer | undefined;
  const take = async (answer: Answer, pacer: Pacer): Promise<void> => {
    merged = await atPace(
      mergeSteps(merged === undefined ? [answer] : [merged, answer], options.merge),
      pacer,
    );
    if (options.maxBytes > 0 && (await weighAnswer(merged, pacer)) > options.maxBytes)
      throw apiError('mergedTooLarge', {});
  };
  let last = Promise.resolve();
  const inTurn = async (answering: Promise<Answer>, before: Promise<void>, signal: AbortSignal) => {
    const answer = await answering;
    await before;
    signal.throwIfAborted();
    await take(answer, new Pacer(signal));
  };
  await ofTenants(parts, (part, signal) => (last = inTurn(run(part, signal), last, signal)), options.signal);
  return merged;
}

/** Runs the parts of tenants; the first failure becomes that of the whole. */
export async function ofTenants<Part>(
  parts: readonly Part[],
  run: (part: Part, signal: AbortSignal) => Promise<void>,
  ended: AbortSignal,
): Promise<void> {
  try {
    await inParallel(parts, parallel, run, ended);
  } catch (error) {
    throw wholeFailure(error);
  }
}

/** Statuses of rejections that concern the request or the client rather than one tenant, which are kept. */
const keptStatuses: ReadonlySet<number> = new Set([413, 429, 499, 501, 504]);
const keptEntries: ReadonlySet<ErrorEntry> = new Set<ErrorEntry>([
  errorTable.tooManyConcurrent,
  errorTable.stopping,
  errorTable.processMemory,
]);

/**
 * The error for the client if one tenant fails: a rejection becomes 400, a backend failure 500, a timeout stays 504
 * (docs/protocol/tenants.md#several-tenants). The text is the tenant's.
 */
function wholeFailure(error: unknown): unknown {
  if (!(error instanceof ApiError) || keptStatuses.has(error.status)) return error;
  if (keptEntries.has(error.entry)) return error;
  const status = error.status >= 400 && error.status < 500 ? 400 : 500;
  return status === error.status ? error : new ApiError(error.entry, error.message, { status, cause: error });
}
