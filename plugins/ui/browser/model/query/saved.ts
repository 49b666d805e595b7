/** A query that was saved under a name. */
export interface SavedQuery {
  readonly name: string;
  readonly query: string;
  readonly tenant: string;
}

export const maxSaved = 200;
const maxNameLength = 100;
const maxQueryLength = 20_000;

/** The saved queries with one more, which replaces one of the same name; a text that says why if it cannot be saved. */
export function withSaved(saved: readonly SavedQuery[], added: SavedQuery): readonly SavedQuery[] | string {
  const one = { ...added, name: added.name.trim(), query: added.query.trim() };
  if (one.query === '') return 'There is no query to save yet.';
  if (!isSavedQuery(one))
    return `A name has 1 to ${maxNameLength} characters, a query at most ${maxQueryLength}.`;
  const others = saved.filter(({ name }) => name !== one.name);
  if (others.length >= maxSaved) return `This browser has ${maxSaved} saved queries: delete one first.`;
  return [...others, one].toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}

/** Parses stored or imported queries; invalid members are dropped. Returns undefined if the text is not a JSON list. */
export function parseSaved(text: string): readonly SavedQuery[] | undefined {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return undefined;
    let saved: readonly SavedQuery[] = [];
    for (const one of list.filter(isSavedQuery)) {
      const next = withSaved(saved, { name: one.name, query: one.query, tenant: one.tenant });
      if (typeof next !== 'string') saved = next;
    }
    return saved;
  } catch {
    return undefined;
  }
}

function isSavedQuery(one: unknown): one is SavedQuery {
  if (typeof one !== 'object' || one === null) return false;
  const read = new Map<string, unknown>(Object.entries(one));
  const isText = (key: string, least: number, most: number): boolean => {
    const value = read.get(key);
    return typeof value === 'string' && value.length >= least && value.length <= most;
  };
  return isText('name', 1, maxNameLength) && isText('query', 1, maxQueryLength) && isText('tenant', 0, 1_000);
}
