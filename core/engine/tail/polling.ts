import type { TailContext } from './context.js';
import { pause } from '../../base/time/pause.js';
import type { LiveEvent } from '../../wire/answer/live.js';
import type { Windows } from './window.js';

/** What the backend usually needs until a row can be found, and a sender to send it; most looks reach back no further. */
export const usualLatenessMs = 4_000;
const longestPauseMs = 10_000;

/** Synthetic tail: polls for new lines until the signal ends. Failures are told and made up for; the pauses grow meanwhile. */
export async function* pollLines(context: TailContext, windows: Windows): AsyncGenerator<LiveEvent> {
  const { rules, signal } = context;
  const nearMs = Math.min(rules.lookbackMs, Math.max(usualLatenessMs, 3 * rules.refreshMs));
  const deepEvery = Math.max(1, Math.round(rules.lookbackMs / 2 / rules.refreshMs));
  let failures = 0;
  for (let turn = 1; ; turn += 1) {
    await pause(Math.min(rules.refreshMs * 2 ** failures, longestPauseMs), signal);
    if (signal.aborted) return;
    try {
      // Only now and then a look goes as far back as late rows may come: it costs reading all of that again.
      yield* windows.look(turn % deepEvery === 0 ? rules.lookbackMs : nearMs);
      failures = 0;
    } catch (error) {
      if (hasEnded(signal)) return;
      failures = Math.min(failures + 1, 10);
      yield { kind: 'trouble', error: asError(error) };
    }
  }
}

/** Asked again after something was awaited; the compiler would take the answer of before. */
function hasEnded(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** What was thrown, as an Error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
