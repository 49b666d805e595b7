import { failureText, fetchRange, openTail, ServerError } from '../api.js';
import { logRows, type LogRow } from '../model/log-rows.js';
import type { QueryState } from '../model/query-state.js';
import type { TailFrame } from '../model/wire.js';

/** Maximum number of lines of the history, and of one poll. */
export const maxAtOnce = 500;
const everyMs = 1_000;
/** Time that is read again, because lines may arrive late, and lines of one timestamp in parts. */
export const overlapMs = 5_000;
const withinMs = 20_000;
/** Time that a WebSocket may take to open. */
const openWithinMs = 10_000;

/** Lines from a source; the first ones are those since its start. */
export type TakeLines = (rows: readonly LogRow[], isHistory: boolean, dropped: number) => void;

/** Ends a source. */
export type EndSource = () => void;

/**
 * Follows the tail of a query over a WebSocket. `onEnd` is called once when it has ended by itself, with the time for which it was open;
 * undefined if it never was.
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
  const on = { signal };
  socket.addEventListener(
    'open',
    () => {
      clearTimeout(overdue);
      openedMs = performance.now();
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
      const openMs = performance.now() - (openedMs ?? 0);
      onLines(rows, isHistory && openMs < everyMs, dropped.length);
      isHistory = false;
    },
    on,
  );
  socket.addEventListener(
    'close',
    () => {
      clearTimeout(overdue);
      onEnd(openedMs === undefined ? undefined : performance.now() - openedMs);
    },
    on,
  );
  return () => {
    clearTimeout(overdue);
    controller.abort();
    socket.close();
  };
}

/** The newest lines of a query between two times; undefined if it counts lines. */
async function linesBetween(
  asked: QueryState,
  startMs: number,
  endMs: number,
  end: AbortSignal,
): Promise<readonly LogRow[] | undefined> {
  const range = { startNs: BigInt(startMs) * 1_000_000n, endNs: BigInt(endMs) * 1_000_000n };
  const signal = AbortSignal.any([end, AbortSignal.timeout(withinMs)]);
  const { data } = await fetchRange({ ...asked, range, limit: maxAtOnce, direction: 'backward' }, signal);
  return data.resultType === 'streams' ? logRows(data.result, 'backward') : undefined;
}

/**
 * Asks for lines that a silent WebSocket should have sent. `onFound` is called with them; undefined if the server cannot be reached.
 * Lines of the last seconds may still be under way.
 */
export function checkSilence(
  asked: QueryState,
  startMs: number,
  onFound: (rows: readonly LogRow[] | undefined) => void,
): EndSource {
  const controller = new AbortController();
  const { signal } = controller;
  linesBetween(asked, startMs, Math.max(startMs, Date.now() - overlapMs), signal).then(
    (rows = []) => {
      if (!signal.aborted) onFound(rows);
    },
    (error: unknown) => {
      if (!signal.aborted) onFound(error instanceof ServerError ? [] : undefined);
    },
  );
  return () => controller.abort();
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
