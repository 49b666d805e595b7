import { ApiError } from '../base/errors/api-error.js';

/** A plugin and its position in the file, for messages. */
export interface PluginPlace {
  readonly kind: 'stage' | 'endpoint' | 'service';
  readonly id: string;
  /** The plugin's own name. */
  readonly plugin: string;
  /** `pipelines/site.yaml:14:5`; undefined if it is not from a file. */
  readonly at?: string;
}

/** The plugin that threw each error. It is stored outside the error, which stays unchanged because stages and caches check its class. */
const blamed = new WeakMap<Error, PluginPlace>();

/**
 * Converts the value that a plugin threw to an Error and attributes it to the plugin, unless it is already attributed to one further down
 * the chain.
 */
export function blame(thrown: unknown, place: PluginPlace): Error {
  const error = thrown instanceof Error ? thrown : new NonErrorThrown(thrown, place);
  if (!blamed.has(error)) blamed.set(error, place);
  return error;
}

/** The plugin that threw an error first; undefined if it is not from a plugin. */
export function blamedFor(error: unknown): PluginPlace | undefined {
  return error instanceof Error ? blamed.get(error) : undefined;
}

/** As `blamedFor`, for a request that ended with status 500, unless the plugin reported that itself with an ApiError. */
export function defectIn(error: unknown): PluginPlace | undefined {
  return error instanceof ApiError ? undefined : blamedFor(error);
}

/** A plugin threw a value that is not an Error. */
class NonErrorThrown extends Error {
  constructor(thrown: unknown, { kind, id }: PluginPlace) {
    super(`${kind} "${id}" threw a non-Error value`, { cause: thrown });
    this.name = 'NonErrorThrown';
  }
}
