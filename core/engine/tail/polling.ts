import type { TailContext } from './context.js';
import { pause } from '../../base/time/pause.js';
import type { LiveEvent } from '../../wire/answer/live.js';
import type { Windows } from './window.js';

/** The usual time from a sender to the backend until a row can be found; most polls look back no further. */
export const usualLatenessMs = 4_000;
const longestPauseMs = 10_000;

/**
 * Synthetic tail: polls for new lines until the signal aborts. Failures are reported and made up for by later polls, with growing pauses.
 */
export async function* pollLines(context: TailContext, windows: Windows): AsyncGenerator<LiveEvent> {
  const { rules, signal } = context;
  const nearMs = Math.min(rules.lookbackMs, Math.max(usualLatenessMs, 3 * rules.refreshMs));
  const deepEvery = Math.max(1, Math.round(rules.lookbackMs / 2 / rules.refreshMs));
  let failures = 0;
  for (let turn = 1; ; turn += 1) {
    await pause(Math.min(rules.refreshMs * 2 ** failures, longestPauseMs), signal);
    if (signal.aborted) return;
    try {
      // Looking back as far as late rows may arrive means reading all of that again, so it only happens now and then.
      yield* windows.look(turn % deepEvery === 0 ? rules.lookbackMs : nearMs);
      failures = 0;
    } catch (error) {
      if (hasEnded(signal)) return;
      failures = Math.min(failures + 1, 10);
      yield { kind: 'trouble', error: asError(error) };
    }
  }
}

/** A function, because the compiler would reuse an earlier check across an await. */
function hasEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** The thrown value as an Error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
