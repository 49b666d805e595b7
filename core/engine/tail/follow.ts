import { asError } from '../../base/guard-events.js';
import { PromiseQueue } from '../../base/pace/promise-queue.js';
import type { BackendRow } from '../../victoria/upstream/types.js';
import type { LogRow } from '../../victoria/names/row-reader.js';
import type { LiveEvent } from '../../wire/answer/types.js';
import { type TailContext, tailLine } from './context.js';
import type { ReorderBuffer } from './reorder-buffer.js';
import { PollWindows, readDelayNs } from './poll-windows.js';
import { apiError } from '../../base/errors/table.js';
import { query } from '../../victoria/logsql/build.js';

type Turn = { readonly kind: 'poll' } | { readonly kind: 'rows'; readonly rows: readonly BackendRow[] };

const maxPauseMs = 10_000;
/** Additional time for which lines wait for older ones while polls fail. */
const patienceMs = 5_000;

/**
 * Follows new lines by the rules (docs/protocol/requests.md#tail) until the signal aborts. Polls overlap and find every row, in any order;
 * the buffer sorts them. Failed polls are reported, and later ones make up for them. Only rejects in native mode, when the backend's tail
 * fails or ends.
 */
export async function* followLines(
  context: TailContext,
  fromNs: bigint,
  held: ReorderBuffer,
): AsyncGenerator<LiveEvent> {
  const { rules, signal, clock, reader } = context;
  const windows = new PollWindows(context, fromNs);
  const turns = new PromiseQueue<Turn>();
  const native = rules.mode === 'native' ? (await openNative(context))[Symbol.asyncIterator]() : undefined;
  if (native !== undefined) turns.expect(nextRows(native));
  turns.expect(nextPoll(context, 0));
  let [failures, hasNews] = [0, true];
  try {
    for (;;) {
      const turn = await turns.next();
      if (signal.aborted) return;
      if (turn.kind === 'rows') {
        hasNews = true;
        yield* hold(
          turn.rows.map((row) => reader.read(row)),
          context,
          held,
        );
        if (native !== undefined) turns.expect(nextRows(native));
        continue;
      }
      // The backend's tail omits only late lines and those older than lines that are still held.
      if (native === undefined || hasNews || held.size > 0 || windows.isDeepDue) {
        const startedMs = clock.monotonicMs();
        try {
          for await (const rows of windows.look()) yield* hold(rows, context, held);
          failures = 0;
        } catch (error) {
          if (hasEnded(signal)) return;
          failures += 1;
          yield { kind: 'trouble', error: asError(error) };
        }
        const entries = held.take(ripeMs(rules.reorderMs, failures, startedMs));
        if (entries.length > 0) yield { kind: 'entries', entries, isEarly: false };
      }
      hasNews = false;
      turns.expect(nextPoll(context, failures));
    }
  } finally {
    // A pending read ends with the signal and need not be awaited.
    void native?.return?.().catch(() => undefined);
  }
}

/** Holds the new lines of these rows. If the buffer is full, all held lines are sent. */
async function* hold(
  rows: readonly LogRow[],
  { recent, lines, clock }: TailContext,
  held: ReorderBuffer,
): AsyncGenerator<LiveEvent> {
  for (const row of rows) {
    if (!recent.add(row)) continue;
    const line = await tailLine(row, lines);
    if (line === undefined) continue;
    held.add(line, clock.monotonicMs());
    if (held.isFull) yield { kind: 'entries', entries: held.take(Infinity), isEarly: true };
  }
}

/** Lines found before this time have waited long enough: a poll that started after it has found the older ones. */
function ripeMs(reorderMs: number, failures: number, pollStartedMs: number): number {
  if (failures > 0) return pollStartedMs - reorderMs - patienceMs;
  return reorderMs === 0 ? Infinity : pollStartedMs - reorderMs;
}

/** Waits for the next turn to poll; longer after failures. */
async function nextPoll({ rules, turns, signal }: TailContext, failures: number): Promise<Turn> {
  const most = Math.max(1, Math.floor(maxPauseMs / rules.refreshMs));
  for (let left = Math.min(2 ** failures, most); left > 0; left -= 1) await turns.next(signal);
  return { kind: 'poll' };
}

/** A function, because the compiler would assume the result of an earlier check to hold across an await. */
function hasEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}

/**
 * Opens the backend's own tail. Rejects if the backend rejects it or it does not start in time. VictoriaLogs omits rows that become visible
 * after a younger row of their stream, so it does not replace polling.
 */
function openNative(context: TailContext): Promise<AsyncIterable<readonly BackendRow[]>> {
  const { rules, filter, upstream } = context;
  return upstream.tail({
    query: query(filter),
    offsetNs: readDelayNs(context),
    startOffsetMs: rules.lookbackMs,
    refreshMs: rules.refreshMs,
    openTimeoutMs: rules.openTimeoutMs,
  });
}

/** The next rows of the backend's own tail. Rejects when it ends. */
async function nextRows(
  tail: AsyncIterator<readonly BackendRow[]>,
): Promise<{ readonly kind: 'rows'; readonly rows: readonly BackendRow[] }> {
  let result: IteratorResult<readonly BackendRow[]>;
  try {
    result = await tail.next();
  } catch (error) {
    throw apiError('nativeTailEnded', {}, { cause: error });
  }
  if (result.done === true) throw apiError('nativeTailEnded', {});
  return { kind: 'rows', rows: result.value };
}
