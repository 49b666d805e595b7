import { innerLabelName, labelName } from './label-name.js';

/** The path of keys to a value. */
export type KeyPath = readonly string[];

/** Paths by the labels that `| json` gives their values. */
export type PathsByLabel = Pick<ReadonlyMap<string, KeyPath>, 'get'>;

const maxDepth = 100;
/** Nanoseconds per character: every few characters may be a path of their own. */
export const keyPathsCost = 250;

/** The paths of a JSON line's values by the labels that `| json` gives them; empty when the line is not a JSON object. */
export function jsonPathsOf(line: string): ReadonlyMap<string, KeyPath> {
  const paths = new Map<string, KeyPath>();
  const value = parsed(line);
  if (isObject(value)) collect(value, '', [], paths);
  return paths;
}

function collect(
  object: Readonly<Record<string, unknown>>,
  prefix: string,
  above: KeyPath,
  paths: Map<string, KeyPath>,
): void {
  for (const [key, value] of Object.entries(object)) {
    const name = prefix === '' ? labelName(key) : `${prefix}_${innerLabelName(key)}`;
    const path = [...above, key];
    if (isObject(value)) {
      if (path.length < maxDepth) collect(value, name, path, paths);
    } else if (!Array.isArray(value) && value !== null && !paths.has(name)) paths.set(name, path);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
