import { isDeepStrictEqual } from 'node:util';
import {
  type CST,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  Parser,
  visit,
  type Document,
  type Pair,
  type YAMLMap,
} from 'yaml';
import { CORE_SECTIONS } from '../kernel/options/index.js';
import { LISTS } from '../kernel/pipeline/draft.js';

const topOrder: readonly string[] = ['version', ...CORE_SECTIONS, ...LISTS];
const entryOrder: readonly string[] = ['use', 'include', 'id', 'enabled', 'with'];

/**
 * The text of a pipeline file in canonical format: indentation of two spaces, `version`, sections and lists in the order of the
 * documentation, `use` first in every entry; comments, quotes, block and flow style and single blank lines are kept. Formatting a formatted
 * text changes nothing. The text must be YAML without syntax errors. Throws if the result would not have the same meaning, with every
 * comment.
 */
export function formatPipeline(text: string): string {
  let formatted = text;
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const before = formatted;
    formatted = formatOnce(before);
    if (formatted === before) break;
  }
  if (!isDeepStrictEqual(parseQuietly(text).toJS(), parseQuietly(formatted).toJS()))
    throw new Error('formatting would change the meaning of the file');
  if (!isDeepStrictEqual(commentsOf(text), commentsOf(formatted)))
    throw new Error('a comment would be lost; move it to a separate line');
  return formatted;
}

/** Maximum number of passes: comments at the end of a block may have to move again before the text is stable. */
const maxPasses = 5;

function formatOnce(text: string): string {
  const document = parseQuietly(text);
  const top = document.contents;
  if (isMap(top)) {
    sortKeys(top, topOrder);
    for (const list of LISTS) {
      const items = top.get(list);
      for (const item of isSeq(items) ? items.items : []) if (isMap(item)) sortKeys(item, entryOrder);
    }
  }
  return print(document);
}

/** Prints a document like `formatPipeline`. */
export function print(document: Document): string {
  padMapsOnly(document);
  return document.toString({ indent: 2, indentSeq: true, lineWidth: 0 });
}

/** Parses a text whose errors are found elsewhere. */
export function parseQuietly(text: string): Document.Parsed {
  return parseDocument(text, { prettyErrors: false, uniqueKeys: false, schema: 'core', logLevel: 'silent' });
}

/** Sorts known keys first, in their order; other keys follow in their original order. */
function sortKeys(map: YAMLMap, order: readonly string[]): void {
  const rank = ({ key }: Pair): number => {
    const place = order.indexOf(String(key));
    return place === -1 ? order.length : place;
  };
  const first = map.items[0]?.key;
  map.items.sort((a, b) => rank(a) - rank(b));
  const now = map.items[0]?.key;
  if (first === now || !isScalar(first) || !isScalar(now)) return;
  // Comments above the first key concern the whole.
  now.commentBefore = [first.commentBefore, now.commentBefore]
    .filter((text) => typeof text === 'string')
    .join('\n');
  first.commentBefore = null;
  now.spaceBefore = false;
}

/** Pads only mappings: `{ a: 1 }` but `[1, 2]`. The printer has one setting for both, so each collection gets its own. */
function padMapsOnly(document: Document): void {
  visit(document, {
    Collection(_key, node) {
      const flowCollectionPadding = isMap(node) ? ' ' : '';
      const plain = node.toString.bind(node);
      node.toString = (context, ...others) =>
        plain(context === undefined ? undefined : { ...context, flowCollectionPadding }, ...others);
    },
  });
}

/** Every comment of a text, sorted, since keys may move. */
function commentsOf(text: string): readonly string[] {
  const comments: string[] = [];
  const note = (token: CST.Token | CST.SourceToken): void => {
    if (token.type === 'comment') comments.push(token.source.trim());
    if (token.type === 'block-scalar') token.props.forEach(note);
    for (const part of ['start', 'sep', 'end'] as const)
      if (part in token) toList(Reflect.get(token, part)).forEach(note);
    if ('items' in token)
      for (const item of token.items) {
        item.start.forEach(note);
        item.sep?.forEach(note);
        if (item.key !== null && item.key !== undefined) note(item.key);
        if (item.value !== undefined) note(item.value);
      }
    if (token.type === 'document' && token.value !== undefined) note(token.value);
  };
  for (const token of new Parser().parse(text)) note(token);
  return comments.sort();
}

/** Converts a part of a token to a list: it is a list of tokens, or a single one such as the opening bracket of a flow collection. */
function toList(part: unknown): readonly CST.SourceToken[] {
  return Array.isArray(part) ? (part as CST.SourceToken[]) : [];
}
