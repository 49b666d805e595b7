import type { Entry } from './dataset.js';

/** The facts about an entry that a query can use. */
export interface Facts {
  readonly kind: 'json' | 'logfmt' | 'packed' | 'text';
  /** Names as the parser of its kind extracts them, with their values. */
  readonly fields: ReadonlyMap<string, string>;
  /** Paths of JSON values, as `| json x="path"` accepts them. */
  readonly paths: readonly string[];
  /** Pieces of the line. */
  readonly words: readonly string[];
}

const mostWords = 60;

export function factsOf({ line }: Entry): Facts {
  const words = wordsOf(line);
  const parsed = parsedJson(line);
  if (parsed !== undefined) {
    const fields = new Map<string, string>();
    const paths: string[] = [];
    flatten(parsed, '', '', fields, paths);
    return { kind: '_entry' in parsed ? 'packed' : 'json', fields, paths, words };
  }
  const fields = new Map<string, string>();
  for (const match of line.slice(0, 4096).matchAll(/([^\s="]+)=("(?:[^"\\]|\\.)*"|[^\s"]*)/g))
    fields.set(asLabel(match[1] ?? ''), unquoted(match[2] ?? ''));
  return { kind: fields.size >= 2 ? 'logfmt' : 'text', fields, paths: [], words };
}

function wordsOf(line: string): readonly string[] {
  const words = line.slice(0, 4096).match(/[\p{L}\p{N}_.%:/-]+/gu) ?? [];
  return [...new Set(words)].slice(0, mostWords);
}

function parsedJson(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    // An object, not an array; its members have unknown types.
    return value as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

function flatten(
  value: Readonly<Record<string, unknown>>,
  prefix: string,
  path: string,
  fields: Map<string, string>,
  paths: string[],
): void {
  for (const [key, member] of Object.entries(value)) {
    const name = prefix === '' ? asLabel(key) : `${prefix}_${asLabel(key)}`;
    const simple = /^[A-Za-z_]\w*$/.test(key);
    const place = simple ? (path === '' ? key : `${path}.${key}`) : `${path}[${JSON.stringify(key)}]`;
    paths.push(place);
    if (Array.isArray(member)) paths.push(`${place}[0]`);
    else if (typeof member === 'object' && member !== null)
      flatten(member as Readonly<Record<string, unknown>>, name, place, fields, paths);
    else if (member !== null && name !== '')
      fields.set(name, typeof member === 'string' ? member : JSON.stringify(member));
  }
}

/** Converts a name to a label name. */
export function asLabel(name: string): string {
  const clean = name.replace(/[^\w]/g, '_');
  return /^\d/.test(clean) ? `_${clean}` : clean;
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}
