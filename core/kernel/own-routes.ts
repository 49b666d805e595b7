import { routeById, type HttpMethod, type Route } from '../wire/routes-table.js';
import type { OwnRoute } from './plugin/contract.js';

/** `/site/teams/{name}`: each segment is plain characters or one parameter. */
const pathForm = /^(?:\/(?:[\w.~-]+|\{\w+\}))+$/;

const readOnly: readonly HttpMethod[] = ['GET'];

/** The routes that endpoint plugins may serve: built-in ones and those that plugins define. */
export class OwnRoutes {
  readonly #byId = new Map<string, Route>(routeById);
  readonly #shapes = new Map<string, string>();

  constructor() {
    for (const { id, paths } of routeById.values())
      for (const path of paths) this.#shapes.set(shapeOf(path), id);
  }

  get byId(): ReadonlyMap<string, Route> {
    return this.#byId;
  }

  /** Adds a plugin's routes. Throws an Error with the reason if one of them is invalid. */
  add(routes: readonly OwnRoute[]): void {
    for (const { id, path, methods = readOnly, listener = 'main' } of routes) {
      if (!pathForm.test(path))
        throw new Error(`the path "${path}" of route "${id}" is not a path such as /site/{name}`);
      if (this.#byId.has(id)) throw new Error(`route "${id}" already exists; give this route a unique id`);
      const taken = this.#shapes.get(shapeOf(path));
      if (taken !== undefined)
        throw new Error(`the path "${path}" of route "${id}" belongs to the route "${taken}"`);
      this.#shapes.set(shapeOf(path), id);
      this.#byId.set(id, { id, paths: [path], methods, listener });
    }
  }
}

/** The path without parameter names: two paths with the same one would be ambiguous. */
function shapeOf(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}
