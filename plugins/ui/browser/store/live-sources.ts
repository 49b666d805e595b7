import { failureText, fetchRange, openTail, ServerError } from '../api.js';
import { compareNs, logRows, type LogRow } from '../model/log-rows.js';
import type { QueryState } from '../model/query-state.js';
import type { TailFrame } from '../model/wire.js';

/** Maximum number of lines of the history, and of one poll. */
export const maxAtOnce = 500;
const everyMs = 1_000;
/** Time that is read again, because lines may arrive late, and lines of one timestamp in parts. */
export const overlapMs = 5_000;
const withinMs = 20_000;
/** Time without lines after which the page asks whether there are any: a connection may die without being closed. */
const silentMs = 10_000;
/** Time that a WebSocket may take to open. */
const openWithinMs = 10_000;

/** Lines from a source; the first ones are those since its start. */
export type TakeLines = (rows: readonly LogRow[], isHistory: boolean, dropped: number) => void;

/** Ends a source. */
export type EndSource = () => void;

/**
 * Follows the tail of a query over a WebSocket. `onEnd` is called once when it has ended by itself, or is silent while there are lines, with the
 * time from its opening to its end or its silence; undefined if it never was open.
 */
export function followTail(
  asked: QueryState,
  startMs: number,
  onLines: TakeLines,
  onOpen: () => void,
  onEnd: (openMs: number | undefined) => void,
): EndSource {
  const controller = new AbortController();
  const { signal } = controller;
  let openedMs: number | undefined;
  let heardMs = 0;
  let newest = `${startMs}000000`;
  let isHistory = true;
  let socket: WebSocket;
  try {
    socket = openTail(asked, startMs, maxAtOnce);
  } catch {
    // A tenant that no header can have.
    const timer = setTimeout(() => onEnd(undefined));
    return () => clearTimeout(timer);
  }
  const overdue = setTimeout(() => socket.close(), openWithinMs);
  const end = (): void => {
    clearTimeout(overdue);
    clearInterval(watch);
    controller.abort();
    socket.close();
  };
  /** Ends a silent WebSocket that has not sent lines which are there; those of the last seconds may still be under way. */
  const check = async (): Promise<void> => {
    if (openedMs === undefined || performance.now() - heardMs < silentMs) return;
    const openMs = heardMs - openedMs;
    heardMs = performance.now();
    try {
      const fromMs = Number(BigInt(newest) / 1_000_000n);
      const untilMs = Math.max(fromMs, Date.now() - overlapMs);
      const rows = (await linesBetween(asked, fromMs, untilMs, signal)) ?? [];
      if (rows.every(({ ns }) => compareNs(ns, newest) <= 0)) return;
    } catch (error) {
      // An answer of the server, though an error, says that it can be reached.
      if (error instanceof ServerError) return;
    }
    if (signal.aborted) return;
    end();
    onEnd(openMs);
  };
  const watch = setInterval(() => void check(), everyMs);
  const on = { signal };
  socket.addEventListener(
    'open',
    () => {
      clearTimeout(overdue);
      openedMs = heardMs = performance.now();
      onOpen();
    },
    on,
  );
  socket.addEventListener(
    'message',
    ({ data }: MessageEvent<string>) => {
      // The server's frames have this form.
      const { streams, dropped_entries: dropped = [] } = JSON.parse(data) as TailFrame;
      const rows = logRows(streams, 'backward');
      heardMs = performance.now();
      const ns = rows[0]?.ns;
      if (ns !== undefined && compareNs(ns, newest) > 0) newest = ns;
      const openMs = heardMs - (openedMs ?? 0);
      onLines(rows, isHistory && openMs < everyMs, dropped.length);
      isHistory = false;
    },
    on,
  );
  socket.addEventListener(
    'close',
    () => {
      end();
      onEnd(openedMs === undefined ? undefined : performance.now() - openedMs);
    },
    on,
  );
  return end;
}

/** The newest lines of a query between two times; undefined if it counts lines. */
async function linesBetween(
  asked: QueryState,
  startMs: number,
  endMs: number,
  ended: AbortSignal,
): Promise<readonly LogRow[] | undefined> {
  const range = { startNs: BigInt(startMs) * 1_000_000n, endNs: BigInt(endMs) * 1_000_000n };
  const signal = AbortSignal.any([ended, AbortSignal.timeout(withinMs)]);
  const { data } = await fetchRange({ ...asked, range, limit: maxAtOnce, direction: 'backward' }, signal);
  return data.resultType === 'streams' ? logRows(data.result, 'backward') : undefined;
}

/** Asks for new lines of a query every second. `onProblem` is called if a poll fails; the next one makes up for it, unless it was the last. */
export function pollLines(
  asked: QueryState,
  startMs: number,
  onLines: TakeLines,
  onProblem: (text: string, isLast: boolean) => void,
): EndSource {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let seenMs = startMs;
  let isHistory = true;
  const poll = async (): Promise<void> => {
    const endMs = Date.now();
    try {
      const rows = await linesBetween(asked, seenMs - overlapMs, endMs, controller.signal);
      if (controller.signal.aborted) return;
      if (rows === undefined) {
        onProblem('A live view is of lines: this query counts them.', true);
        return;
      }
      seenMs = endMs;
      onLines(rows, isHistory, 0);
      isHistory = false;
    } catch (error) {
      if (controller.signal.aborted) return;
      onProblem(failureText(error), false);
    }
    timer = setTimeout(() => void poll(), everyMs);
  };
  void poll();
  return () => {
    clearTimeout(timer);
    controller.abort();
  };
}
