import type { EventEmitter } from 'node:events';

type Emit = (event: string | symbol, ...values: unknown[]) => boolean;

/**
 * Catches exceptions of an emitter's listeners, and `error` events without a listener. Otherwise both are uncaught exceptions, which end
 * the process. With the prototype of a class, this is done for all of its objects: patching each of many would slow down all of them.
 * `onThrow` also gets the arguments of the event.
 */
export function guardEvents<Emitter extends EventEmitter>(
  emitter: Emitter,
  onThrow: (error: Error, values: readonly unknown[], emitter: Emitter) => void,
): void {
  const emit: unknown = Reflect.get(emitter, 'emit');
  emitter.emit = function (this: Emitter, event: string | symbol, ...values: unknown[]): boolean {
    try {
      return Reflect.apply(emit as Emit, this, [event, ...values]);
    } catch (error) {
      onThrow(asError(error), values, this);
      return true;
    }
  };
}

/** Converts a thrown value to an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
