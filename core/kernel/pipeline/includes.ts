import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type Environment, suggest, type ValueSchema } from '../options/index.js';
import { includedEntriesSchema } from './file-schema.js';
import { entryOf, textOf, valueOf, type LocatedNode, type YamlProblem } from './located.js';
import { readYaml } from './read-yaml.js';
import { placedProblems, type ShapeProblem } from './shape.js';
import { readSource, type SourceFile } from './source.js';
import type { SourcePosition } from './types.js';

/** Maximum depth of nested includes. */
const maxDepth = 8;
/** Maximum number of files of a pipeline. */
const maxFiles = 64;
/** Maximum number of entries of a pipeline, counting includes, so that files which include each other many times end soon. */
const maxEntries = 1_000;

/** A pipeline with included entries in its lists, each with its position in its own file. */
interface Expanded {
  readonly root: LocatedNode;
  readonly problems: readonly YamlProblem[];
  readonly shape: readonly ShapeProblem[];
  /** The files that were read, by their name in positions; relative plugin paths start at their folders. */
  readonly files: ReadonlyMap<string, SourceFile>;
}

/** Replaces each `include` in the lists of a pipeline by the entries of the other file. Never throws because of a file's content. */
export async function expandIncludes(
  root: LocatedNode,
  source: SourceFile,
  env: Environment,
  lists: readonly string[],
): Promise<Expanded> {
  const expansion = new Expansion(source, env);
  if (root.kind !== 'map') return { root, problems: [], shape: [], files: expansion.files };
  const entries: (typeof root.entries)[number][] = [];
  for (const entry of root.entries) {
    const { key, value } = entry;
    if (!lists.includes(key) || value.kind !== 'list') entries.push(entry);
    else {
      const items = await expansion.items(value.items, [{ source, fragment: undefined }]);
      entries.push({ ...entry, value: { ...value, items } });
    }
  }
  const { problems, shape, files } = expansion;
  return { root: { ...root, entries }, problems, shape, files };
}

/** The target of an include: a file, and a fragment in it if there is a `#name`. */
export function includeOf(text: string): { readonly file: string; readonly fragment: string | undefined } {
  const hash = text.indexOf('#');
  return hash === -1
    ? { file: text, fragment: undefined }
    : { file: text.slice(0, hash), fragment: text.slice(hash + 1) };
}

/** The name of an included file in findings, relative to the including file. */
export function includedName(file: string, by: Pick<SourceFile, 'name'>): string {
  return isAbsolute(file) ? file : join(dirname(by.name), file);
}

/** A list that is being expanded, of a file or of a fragment. */
interface OpenList {
  readonly source: SourceFile;
  readonly fragment: string | undefined;
}

class Expansion {
  readonly problems: YamlProblem[] = [];
  readonly shape: ShapeProblem[] = [];
  readonly files = new Map<string, SourceFile>();
  readonly #env: Environment;
  /** The root node by path; undefined if the file is unusable, which is reported once. */
  readonly #roots = new Map<string, LocatedNode | undefined>();
  #entries = 0;

  constructor(source: SourceFile, env: Environment) {
    this.#env = env;
    this.files.set(source.name, source);
  }

  /** @param chain the lists whose includes lead to these items, innermost first */
  async items(
    items: readonly LocatedNode[],
    chain: readonly [OpenList, ...OpenList[]],
  ): Promise<readonly LocatedNode[]> {
    const expanded: LocatedNode[] = [];
    for (const item of items) {
      this.#entries += 1;
      if (this.#entries === maxEntries + 1)
        this.#report(item.at, `there are more than ${maxEntries} entries`);
      if (this.#entries > maxEntries) break;
      const include = entryOf(item, 'include');
      const text = textOf(include?.value);
      if (include === undefined) {
        expanded.push(item);
      } else if (text !== undefined && text !== '') {
        // The frame rule reports anything that is not text.
        const other = item.kind === 'map' ? item.entries.find(({ key }) => key !== 'include') : undefined;
        if (other === undefined) expanded.push(...(await this.#included(text, include.value.at, chain)));
        else {
          const message = `"${other.key}" is not allowed next to "include"`;
          this.#report(other.keyAt, message, 'move it to the included file');
        }
      }
    }
    return expanded;
  }

  async #included(
    text: string,
    at: SourcePosition,
    chain: readonly [OpenList, ...OpenList[]],
  ): Promise<readonly LocatedNode[]> {
    const { file, fragment } = includeOf(text);
    const by = chain[0].source;
    const path = resolve(dirname(by.path), file);
    const name = includedName(file, by);
    if (chain.some((each) => each.source.path === path && each.fragment === fragment)) {
      const way = chain.toReversed().map((each) => each.source.name);
      this.#report(at, `${name} includes itself: ${[...way, name].join(' > ')}`);
      return [];
    }
    if (chain.length > maxDepth) {
      this.#report(at, `includes are nested more than ${maxDepth} levels deep`);
      return [];
    }
    const root = await this.#root(path, name, at);
    const source = this.files.get(name);
    if (root === undefined || source === undefined) return [];
    const list = this.#listOf(root, { name, file, fragment }, at);
    return list?.kind === 'list' ? this.items(list.items, [{ source, fragment }, ...chain]) : [];
  }

  /** The root node of a file, read once. */
  async #root(path: string, name: string, at: SourcePosition): Promise<LocatedNode | undefined> {
    if (this.#roots.has(path)) return this.#roots.get(path);
    this.#roots.set(path, undefined);
    if (this.#roots.size > maxFiles) return this.#report(at, `more than ${maxFiles} files are included`);
    const read = await readSource(path);
    if ('reason' in read)
      return this.#report(at, `${name} ${read.reason}`, 'paths are relative to the directory of this file');
    const source = { ...read, name };
    this.files.set(name, source);
    const { root, problems } = readYaml(source, this.#env);
    this.problems.push(...problems);
    if (root === undefined) return undefined;
    this.#checkShape(root);
    this.#roots.set(path, root);
    return root;
  }

  #checkShape(root: LocatedNode): void {
    const schema = root.kind === 'map' ? fragmentsSchema : includedEntriesSchema;
    for (const { problem, at } of placedProblems(root, schema)) {
      const { kind, path, message, fix } = problem;
      const last = path.at(-1);
      const subject =
        last === undefined
          ? 'an included file'
          : typeof last === 'number'
            ? `item ${last + 1}`
            : `${kind === 'unknown' ? 'key ' : ''}"${last}"`;
      this.shape.push({ kind, at, message: `${subject} ${message}`, fix });
    }
  }

  #listOf(
    root: LocatedNode,
    { name, file, fragment }: ReturnType<typeof includeOf> & { readonly name: string },
    at: SourcePosition,
  ): LocatedNode | undefined {
    if (root.kind === 'scalar') return undefined; // its shape is reported
    if (root.kind === 'list') {
      if (fragment === undefined) return root;
      const message = `${name} is a single list and has no fragment "${fragment}"`;
      return this.#report(at, message, `write include: ${file}`);
    }
    const fragments = valueOf(root, 'fragments');
    const names = fragments?.kind === 'map' ? fragments.entries.map(({ key }) => key) : [];
    if (fragment === undefined) {
      const fix = `append one of ${names.map((each) => `#${each}`).join(', ')}`;
      return this.#report(at, `${name} has fragments, and the include does not name one`, fix);
    }
    const found = valueOf(fragments, fragment);
    if (found !== undefined) return found;
    const near = suggest(fragment, names);
    const fix = near === undefined ? `it has ${names.join(', ')}` : `did you mean "${near}"?`;
    return this.#report(at, `${name} has no fragment "${fragment}"`, fix);
  }

  /** Reports a problem with an include; returns undefined in place of the included node. */
  #report(at: SourcePosition, message: string, fix?: string): LocatedNode | undefined {
    this.problems.push({ kind: 'include', at, message, fix });
    return undefined;
  }
}

const fragmentsSchema: ValueSchema = {
  type: 'object',
  properties: { fragments: { type: 'object', additionalProperties: includedEntriesSchema } },
  required: ['fragments'],
  additionalProperties: false,
};
