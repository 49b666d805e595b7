import type { Browse } from '../../wire/api/request.js';

/** The listing to request for each tenant, so that the requested page can be cut from the union of all tenants' values. */
export function widen(browse: Browse): Browse {
  const { limit, offset = 0, search } = browse;
  return {
    ...(limit === undefined ? {} : { limit: limit + offset }),
    ...(search === undefined ? {} : { search }),
  };
}

/** The requested page of the merged values. */
export function pageOf(values: readonly string[], { limit, offset = 0 }: Browse): readonly string[] {
  return values.slice(offset, limit === undefined ? undefined : offset + limit);
}

/** True when a name added to a listing matches the client's search. */
export function isFound(name: string, { search }: Browse): boolean {
  return search === undefined || name.toLowerCase().includes(search.toLowerCase());
}
