/** A query that was run before. */
export interface PastQuery {
  readonly query: string;
  /** Time of its last run in Unix milliseconds. */
  readonly atMs: number;
}

/** Queries by tenant, with the most recent tenant first. */
export type Past = readonly (readonly [tenant: string, queries: readonly PastQuery[]])[];

const maxQueries = 50;
const maxTenants = 20;
/** Maximum length of a query in the history. */
const maxQueryLength = 4_096;

/** The history with one more query: the newest first, each query once. */
export function withQuery(past: Past, tenant: string, query: string, atMs: number): Past {
  const text = query.trim();
  if (text === '' || text.length > maxQueryLength) return past;
  const before = pastOf(past, tenant).filter((one) => one.query !== text);
  const own = [{ query: text, atMs }, ...before].slice(0, maxQueries);
  return [[tenant, own] as const, ...past.filter(([name]) => name !== tenant)].slice(0, maxTenants);
}

/** The history without one query of a tenant, or without all of its queries. */
export function withoutQuery(past: Past, tenant: string, query?: string): Past {
  return past.map(([name, queries]) =>
    name === tenant
      ? ([name, query === undefined ? [] : queries.filter((one) => one.query !== query)] as const)
      : ([name, queries] as const),
  );
}

export function pastOf(past: Past, tenant: string): readonly PastQuery[] {
  return past.find(([name]) => name === tenant)?.[1] ?? [];
}

/** Parses the stored history; invalid entries are dropped. */
export function parsePast(text: string | null): Past {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept
      .filter(
        (one): one is [string, unknown[]] =>
          Array.isArray(one) && typeof one[0] === 'string' && Array.isArray(one[1]),
      )
      .map(([tenant, queries]) => [tenant, queries.filter(isPastQuery).slice(0, maxQueries)] as const)
      .slice(0, maxTenants);
  } catch {
    return [];
  }
}

function isPastQuery(one: unknown): one is PastQuery {
  return (
    typeof one === 'object' &&
    one !== null &&
    'query' in one &&
    typeof one.query === 'string' &&
    'atMs' in one &&
    typeof one.atMs === 'number'
  );
}
