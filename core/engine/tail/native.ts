import { apiError } from '../../base/errors/table.js';
import { query } from '../../victoria/logsql/build.js';
import type { BackendRow } from '../../victoria/upstream/types.js';
import type { TailContext } from './context.js';
import { Arrivals } from '../../base/pace/arrivals.js';
import { Rounds } from '../../base/pace/rounds.js';
import { asError, usualLatenessMs } from './polling.js';
import type { LiveEvent } from '../../wire/answer/live.js';
import { newEntries, type Windows } from './window.js';

/** The rows of the backend's own tail, once it has started. */
export type NativeRows = AsyncIterable<readonly BackendRow[]>;

/** Opens the backend's own tail. Rejects when it is refused or does not start in time. */
export function openNative(context: TailContext): Promise<NativeRows> {
  const { rules, delayNs, filter } = context;
  return context.upstream.tail({
    query: query(filter),
    offsetNs: delayNs,
    startOffsetMs: rules.lookbackMs,
    refreshMs: rules.refreshMs,
    openTimeoutMs: rules.openTimeoutMs,
  });
}

type Turn =
  | { readonly kind: 'rows'; readonly result: IteratorResult<readonly BackendRow[]> }
  | { readonly kind: 'due' };

const lookEveryMs = 1_000;
/** All tails of the process take turns to poll. */
const looks = new Rounds(lookEveryMs);

/**
 * Follows the backend's tail. VictoriaLogs omits rows that become visible after a younger row of their stream, which is common at high
 * rates, so polling the last rows every second finds the omitted ones. Rejects when the tail ends for any reason other than the signal.
 */
export async function* followNative(
  rows: NativeRows,
  context: TailContext,
  windows: Windows,
): AsyncGenerator<LiveEvent> {
  const { rules, signal, reader } = context;
  const batches = rows[Symbol.asyncIterator]();
  const nextBatch = async (): Promise<Turn> => ({ kind: 'rows', result: await batches.next() });
  const nextLook = async (): Promise<Turn> => {
    await looks.next(signal);
    return { kind: 'due' };
  };
  // While nothing arrives, late rows can wait. Each poll starts where the last one ended, so none is lost.
  const deepEvery = (isQuiet: boolean): number =>
    Math.max(1, Math.round((isQuiet ? rules.lookbackMs : rules.lookbackMs / 2) / lookEveryMs));
  let [looksSinceDeep, hasRows, isQuiet] = [0, false, true];
  const turns = new Arrivals<Turn>();
  turns.expect(nextBatch());
  turns.expect(nextLook());
  try {
    for (;;) {
      const turn = await turns.next();
      if (signal.aborted) return;
      if (turn.kind === 'due') {
        looksSinceDeep += 1;
        const isDeep = looksSinceDeep >= deepEvery(isQuiet);
        const behindMs = isDeep ? rules.lookbackMs : Math.min(rules.lookbackMs, usualLatenessMs);
        // While nothing arrives, no younger row can hide another, but late rows may still arrive.
        let hasLate = false;
        if (isDeep || hasRows)
          for await (const event of lookAgain(windows, context, behindMs)) {
            hasLate ||= event.kind === 'entries';
            yield event;
          }
        if (isDeep) [looksSinceDeep, isQuiet] = [0, !hasLate];
        hasRows = false;
        turns.expect(nextLook());
        continue;
      }
      if (turn.result.done === true) throw new Error('the backend ended its tail');
      hasRows = true;
      isQuiet = false;
      turns.expect(nextBatch());
      const event = await newEntries(
        turn.result.value.map((row) => reader.read(row)),
        context,
      );
      if (event !== undefined) yield event;
    }
  } catch (error) {
    if (!signal.aborted) throw apiError('nativeTailEnded', {}, { cause: error });
  } finally {
    // A pending read ends with the signal and need not be awaited.
    void batches.return?.().catch(() => undefined);
  }
}

async function* lookAgain(
  windows: Windows,
  { signal }: TailContext,
  behindMs: number,
): AsyncGenerator<LiveEvent> {
  try {
    yield* windows.look(behindMs);
  } catch (error) {
    if (!signal.aborted) yield { kind: 'trouble', error: asError(error) };
  }
}
