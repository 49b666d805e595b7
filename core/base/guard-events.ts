import type { EventEmitter } from 'node:events';

type Emit = (event: string | symbol, ...values: unknown[]) => boolean;

/**
 * Catches exceptions of an emitter's listeners, and `error` events without a listener. Otherwise both are uncaught exceptions, which end
 * the process. `onThrow` also gets the arguments of the event.
 */
export function guardEvents(
  emitter: EventEmitter,
  onThrow: (error: Error, values: readonly unknown[]) => void,
): void {
  const emit: Emit = emitter.emit.bind(emitter);
  emitter.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    try {
      return emit(event, ...values);
    } catch (error) {
      onThrow(asError(error), values);
      return true;
    }
  };
}

/** Converts a thrown value to an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
