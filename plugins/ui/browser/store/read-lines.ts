import { openRange, type Asked } from '../api.js';
import { numbered, sorted, type LogRow } from '../model/log-rows.js';
import { AnswerReader } from '../model/lines/answer-reader.js';
import type { WireStats } from '../model/wire.js';

/** The lines of an answer, in order. */
export interface ReadLines {
  readonly rows: readonly LogRow[];
  readonly stats: WireStats | undefined;
  readonly warnings: readonly string[];
}

/** Time after the first byte at which the lines so far are shown: almost at once, but small answers have ended by then. */
const firstPartMs = 5;
/** Time between further parts. */
const partMs = 300;
/** Longest time without letting the browser draw and react. */
const sliceMs = 10;
const longestFrameMs = 100;

/**
 * Runs a log query and reads its answer while it arrives; `onPart` gets the lines so far, if reading takes long. The signal ends the request
 * and the reading.
 */
export async function readLines(
  asked: Asked,
  signal: AbortSignal,
  onPart: (rows: readonly LogRow[]) => void = () => undefined,
): Promise<ReadLines> {
  const body = (await openRange(asked, signal)).getReader();
  const reader = new AnswerReader();
  const decoder = new TextDecoder();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let shown = 0;
  const show = (): void => {
    clearTimeout(timer);
    timer = setTimeout(show, partMs);
    if (reader.rows.length > shown) onPart(sorted(reader.rows, asked.direction));
    shown = reader.rows.length;
  };
  let sliceEnd = 0;
  try {
    for (let piece = await body.read(); !piece.done; piece = await body.read()) {
      if (timer === undefined) {
        timer = setTimeout(show, firstPartMs);
        sliceEnd = performance.now() + firstPartMs;
      }
      const entries = reader.push(decoder.decode(piece.value, { stream: true }));
      while (entries.next().done !== true) {
        if (performance.now() < sliceEnd) continue;
        if (shown === 0) {
          show();
          await nextFrame();
        }
        await nextTask();
        signal.throwIfAborted();
        sliceEnd = performance.now() + sliceMs;
      }
    }
    reader.end();
  } finally {
    clearTimeout(timer);
    // Ends the request, if reading has failed.
    body.cancel().catch(() => undefined);
  }
  const { rows, stats, warnings } = reader;
  return { rows: numbered(sorted(rows, asked.direction)), stats, warnings };
}

/** Lets the browser draw a frame, which it does not do for a page in the background. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, longestFrameMs);
    requestAnimationFrame(() => resolve());
  });
}

/** Lets the browser draw and react; unlike a timer, this is not slowed down in a page in the background. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
