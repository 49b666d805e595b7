/** A plugin of Stryker: texts that only people read are not mutated, as no answer depends on them. */
interface NodePath {
  readonly node: Node;
  /** The node that it stands in. */
  readonly parent?: { readonly properties?: readonly Node[] };
}

interface Node {
  readonly type: string;
  readonly callee?: { readonly name?: string };
  readonly key?: { readonly name?: string };
}

/** Functions whose arguments are such texts. */
const callees: ReadonlySet<string> = new Set(['leftOut', 'Error']);
/** Members of pushdown rules that docs/pushdown.md is generated from. */
const members: ReadonlySet<string> = new Set(['construct', 'backend', 'reason', 'example']);

/** The id of a rule is one of its texts; other ids decide. */
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
