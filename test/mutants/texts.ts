/** A Stryker plugin that excludes texts for humans from mutation, because no answer depends on them. */
interface NodePath {
  readonly node: Node;
  /** The parent node. */
  readonly parent?: { readonly properties?: readonly Node[] };
}

interface Node {
  readonly type: string;
  readonly callee?: { readonly name?: string };
  readonly key?: { readonly name?: string };
}

/** Functions with such texts as arguments. */
const callees: ReadonlySet<string> = new Set(['leftOut', 'Error']);
/** Properties of pushdown rules from which docs/pushdown.md is generated. */
const members: ReadonlySet<string> = new Set(['construct', 'backend', 'reason', 'example']);

/** The id of a rule is such a text; the program depends on other ids. */
function isTextMember({ key }: Node, siblings: readonly Node[] = []): boolean {
  const isRule = siblings.some((one) => one.key?.name === 'construct');
  return members.has(key?.name ?? '') || (isRule && key?.name === 'id');
}

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'texts',
    value: {
      shouldIgnore({ node, parent }: NodePath): string | undefined {
        const isCall = node.type === 'CallExpression' || node.type === 'NewExpression';
        const isText = isCall
          ? callees.has(node.callee?.name ?? '')
          : node.type === 'ObjectProperty' && isTextMember(node, parent?.properties);
        return isText ? 'a text for people' : undefined;
      },
    },
  },
];
