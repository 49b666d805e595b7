import { ApiError } from '../base/errors/api-error.js';

/** A plugin in its place, as messages name it. */
export interface PluginPlace {
  readonly kind: 'stage' | 'endpoint' | 'service';
  readonly id: string;
  /** The plugin's own name. */
  readonly plugin: string;
  /** `pipelines/site.yaml:14:5`; undefined where no file says. */
  readonly at?: string;
}

/** Errors stay what they are, because stages and caches tell them apart; who threw one is noted beside it. */
const blamed = new WeakMap<Error, PluginPlace>();

/** The value that a plugin threw, as an Error, noted as its own unless another one, further in, threw it before. */
export function blame(thrown: unknown, place: PluginPlace): Error {
  const error = thrown instanceof Error ? thrown : new NonErrorThrown(thrown, place);
  if (!blamed.has(error)) blamed.set(error, place);
  return error;
}

/** The plugin in which an error was thrown first; undefined when none has let it pass. */
export function blamedFor(error: unknown): PluginPlace | undefined {
  return error instanceof Error ? blamed.get(error) : undefined;
}

/** The same for a request that ended with status 500, where the plugin did not say so to the client by an ApiError. */
export function defectIn(error: unknown): PluginPlace | undefined {
  return error instanceof ApiError ? undefined : blamedFor(error);
}

/** A plugin threw a text, or nothing. */
class NonErrorThrown extends Error {
  constructor(thrown: unknown, { kind, id }: PluginPlace) {
    super(`${kind} "${id}" threw a non-Error value`, { cause: thrown });
    this.name = 'NonErrorThrown';
  }
}
