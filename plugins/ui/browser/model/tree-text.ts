/** Lays out a one-line tree (`(sum by (x) (rate ...))`) on several lines for reading. */

type Node = string | readonly Node[];

/** Breaks a tree into lines: a node that fits the width stays on one line, otherwise each child gets its own. */
export function layOutTree(text: string, width = 76): string {
  const [tree] = parse(text);
  return tree === undefined ? text : print(tree, 0, width);
}

function print(node: Node, indent: number, width: number): string {
  const flat = flatten(node);
  if (typeof node === 'string' || indent + flat.length <= width) return flat;
  const atoms = node.findIndex((child) => typeof child !== 'string');
  const head = node.slice(0, atoms === -1 ? node.length : atoms).map(flatten);
  const rest = atoms === -1 ? [] : node.slice(atoms);
  const lines = rest.map((child) => `\n${' '.repeat(indent + 2)}${print(child, indent + 2, width)}`);
  return `(${head.join(' ')}${lines.join('')})`;
}

function flatten(node: Node): string {
  return typeof node === 'string' ? node : `(${node.map(flatten).join(' ')})`;
}

// Quoted texts may contain parentheses. Each alternative starts with a different character, so this runs in linear time.
const token = /[()]|(?:"(?:[^"\\]|\\.)*"?|`[^`]*`?|[^()\s"`])+/g;

function parse(text: string): readonly Node[] {
  const root: Node[] = [];
  const open: Node[][] = [root];
  for (const [part] of text.matchAll(token)) {
    const last = open.at(-1) ?? root;
    if (part === '(') {
      const node: Node[] = [];
      last.push(node);
      open.push(node);
    } else if (part === ')') {
      if (open.length > 1) open.pop();
    } else last.push(part);
  }
  return root;
}
