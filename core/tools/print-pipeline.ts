import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { isAlias, isMap, isNode, isScalar, isSeq, visit, type Document, type YAMLMap } from 'yaml';
import { LISTS } from '../kernel/pipeline/draft.js';
import { formatPipeline, parseQuietly, print } from './format-yaml.js';
import { includeOf, includedName } from '../kernel/pipeline/includes.js';
import { readSource, type SourceFile } from '../kernel/pipeline/source.js';

/**
 * A pipeline as one text. Includes are replaced by the entries of their files, under a comment that names the file; comments and references
 * to the environment are kept, and paths of plugins are relative to the pipeline's folder. The pipeline must be free of findings about its
 * includes (R010).
 */
export async function printPipeline(source: SourceFile): Promise<string> {
  const document = parseQuietly(source.text);
  if (isMap(document.contents))
    for (const list of LISTS) await expand(document.contents, list, source, source);
  return formatPipeline(print(document));
}

/** Expands the list of a key that is written in the file `by`. */
async function expand(map: YAMLMap, key: string, by: SourceFile, main: SourceFile): Promise<void> {
  const list: unknown = map.get(key);
  if (!isSeq(list)) return;
  const items: unknown[] = [];
  for (const item of list.items) {
    const include: unknown = isMap(item) ? item.get('include') : undefined;
    if (!isMap(item) || typeof include !== 'string') items.push(moved(item, by, main));
    else {
      const entries = await included(include, item, by, main);
      // A blank line precedes each part except the first.
      const [first] = entries;
      if (isNode(first)) first.spaceBefore = items.length > 0;
      items.push(...entries);
    }
  }
  list.items = items;
  if (items.length > 0) list.flow = false;
}

async function included(
  text: string,
  item: YAMLMap,
  by: SourceFile,
  main: SourceFile,
): Promise<readonly unknown[]> {
  const { file, fragment } = includeOf(text);
  const read = await readSource(resolve(dirname(by.path), file));
  if ('reason' in read) throw new Error(`${file} ${read.reason}`);
  const source = { ...read, name: includedName(file, by) };
  const document = parseQuietly(source.text);
  withoutAliases(document);
  const fragments: unknown = fragment === undefined ? undefined : document.get('fragments');
  // A list has no key of its own, so it gets one here.
  const holder = document.createNode({ list: null }) as YAMLMap;
  holder.set(
    'list',
    fragment === undefined || !isMap(fragments) ? document.contents : fragments.get(fragment),
  );
  await expand(holder, 'list', source, main);
  const list: unknown = holder.get('list');
  const items = isSeq(list) ? list.items : [];
  const [first] = items;
  const origin = ` from ${source.name}${fragment === undefined ? '' : `#${fragment}`}`;
  if (isNode(first)) {
    const above = [
      item.commentBefore,
      origin,
      isNode(list) ? list.commentBefore : undefined,
      first.commentBefore,
    ];
    first.commentBefore = above.filter((comment) => typeof comment === 'string' && comment !== '').join('\n');
  }
  return items;
}

/** An entry with the path of its plugin relative to the main file. */
function moved(item: unknown, by: SourceFile, main: SourceFile): unknown {
  if (!isMap(item) || by === main) return item;
  const use: unknown = item.get('use', true);
  if (!isScalar(use) || typeof use.value !== 'string' || !/^\.{1,2}\//.test(use.value)) return item;
  const path = relative(dirname(main.path), resolve(dirname(by.path), use.value));
  use.value = path.startsWith('.') || isAbsolute(path) ? path : `./${path}`;
  return item;
}

/** Resolves aliases, because anchors of a file have no meaning in another one. */
function withoutAliases(document: Document): void {
  visit(document, {
    Alias: (_key, node) => {
      const target = node.resolve(document);
      return target === undefined || isAlias(target) ? undefined : (target.clone() as typeof target);
    },
  });
  visit(document, {
    Value: (_key, node) => {
      delete node.anchor;
    },
  });
}
