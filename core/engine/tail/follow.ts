import type { TailContext } from './context.js';
import { followNative, openNative, type NativeRows } from './native.js';
import { asError, pollLines } from './polling.js';
import type { LiveEvent } from '../../wire/answer/live.js';
import { Windows } from './window.js';

/**
 * Follows new lines by the rules (docs/protocol/requests.md#tail). Remembered rows are kept when the source changes, so no line is lost or
 * repeated. Only rejects in native mode, when the backend's tail fails or ends.
 */
export async function* followLines(context: TailContext, fromNs: bigint): AsyncGenerator<LiveEvent> {
  const { mode } = context.rules;
  const windows = new Windows(context, fromNs);
  let cause: Error | undefined;
  if (mode !== 'synthetic') {
    try {
      const rows: NativeRows = await openNative(context);
      yield { kind: 'source', source: 'native' };
      yield* followNative(rows, context, windows);
    } catch (error) {
      if (mode === 'native') throw error;
      cause = asError(error);
    }
  }
  if (context.signal.aborted) return;
  yield { kind: 'source', source: 'synthetic', ...(cause === undefined ? {} : { cause }) };
  yield* pollLines(context, windows);
}
