import type { Browse } from '../../wire/api/request.js';

/** What each tenant must list so that a page of all tenants' values can be cut from their union. */
export function widen(browse: Browse): Browse {
  const { limit, offset = 0, search } = browse;
  return {
    ...(limit === undefined ? {} : { limit: limit + offset }),
    ...(search === undefined ? {} : { search }),
  };
}

/** The page of the merged values that was asked for. */
export function pageOf(values: readonly string[], { limit, offset = 0 }: Browse): readonly string[] {
  return values.slice(offset, limit === undefined ? undefined : offset + limit);
}

/** Whether a name that is added to a listing is what the client searches for. */
export function isFound(name: string, { search }: Browse): boolean {
  return search === undefined || name.toLowerCase().includes(search.toLowerCase());
}
