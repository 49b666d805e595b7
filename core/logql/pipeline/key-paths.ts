import { goesOn, readFields, type FieldOutcome, type FieldVisitor } from './json-fields.js';
import type { Label } from '../../base/labels/label-set.js';
import { unescapeJson } from './json-text.js';
import { jsonArray, jsonNull, jsonObject, JsonReader } from './json-value.js';
import { nestedLabelName } from './label-name.js';
import { clashSuffix } from './types.js';

/** The path of keys to a value. */
export type KeyPath = readonly string[];

/** Paths by the labels that `| json` gives their values. */
export type PathsByLabel = Pick<ReadonlyMap<string, KeyPath>, 'get'>;

const maxDepth = 100;
/** Nanoseconds per character: every few characters may be a path of their own. */
export const keyPathsCost = 250;

interface Place {
  readonly prefix: string;
  readonly path: KeyPath;
}

/** The paths of a JSON line's values by the labels that `| json` gives them beside the stream's: those before the place where it is no JSON. */
export function jsonPathsOf(line: string, stream: readonly Label[]): ReadonlyMap<string, KeyPath> {
  const paths = new PathCollector(line, stream);
  readFields(paths.reader, 0, line.length, paths, undefined, 0);
  return paths.byLabel;
}

class PathCollector implements FieldVisitor<Place> {
  readonly reader = new JsonReader();
  readonly byLabel = new Map<string, KeyPath>();
  readonly #taken: ReadonlySet<string>;

  constructor(line: string, stream: readonly Label[]) {
    this.reader.start(line);
    this.#taken = new Set(stream.map(([name]) => name));
  }

  key(from: number, to: number, _hash: number, parent: Place | undefined): Place | undefined {
    const key = unescapeJson(this.reader.line.slice(from, to));
    if (key === undefined) return undefined;
    return { prefix: nestedLabelName(parent?.prefix ?? '', key), path: [...(parent?.path ?? []), key] };
  }

  field(place: Place, depth: number): FieldOutcome {
    const { reader, byLabel } = this;
    if (reader.kind === jsonObject) {
      return depth < maxDepth ? readFields(reader, reader.from, reader.to, this, place, depth + 1) : goesOn;
    }
    const isValue = reader.kind !== jsonArray && reader.kind !== jsonNull;
    const label = this.#taken.has(place.prefix) ? `${place.prefix}${clashSuffix}` : place.prefix;
    if (isValue && !byLabel.has(label)) byLabel.set(label, shownPath(place.path));
    return goesOn;
  }
}

/** Loki takes what looks like its own ending for clashes off the keys of nested values. */
function shownPath(path: KeyPath): KeyPath {
  if (path.length === 1) return path;
  return path.map((key) => (key.endsWith(clashSuffix) ? key.slice(0, -clashSuffix.length) : key));
}
