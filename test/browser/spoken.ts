import type { Page } from 'playwright-core';

/** A part of the page as a screen reader presents it, in reading order. */
export interface SpokenPart {
  readonly role: string;
  readonly name: string;
  readonly description: string;
  readonly level: number | undefined;
  readonly isFocusable: boolean;
  /** Roles and names of its ancestors, the outermost first. */
  readonly within: readonly string[];
}

interface TreeNode {
  readonly nodeId: string;
  readonly ignored: boolean;
  readonly role?: { readonly value?: string };
  readonly name?: { readonly value?: string };
  readonly description?: { readonly value?: string };
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[];
  readonly childIds?: readonly string[];
}

/** The page's accessibility tree as Chromium provides it to screen readers. */
export async function spokenParts(page: Page): Promise<readonly SpokenPart[]> {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('Accessibility.enable');
    const { nodes } = (await session.send('Accessibility.getFullAXTree')) as { nodes: readonly TreeNode[] };
    const byId = new Map(nodes.map((node) => [node.nodeId, node]));
    const parts: SpokenPart[] = [];
    const walk = (node: TreeNode, within: readonly string[]): void => {
      const part = partOf(node, within);
      const isSaid = !node.ignored && (part.isFocusable || !unsaid.has(part.role));
      if (isSaid) parts.push(part);
      const inside = isSaid ? [...within, `${part.role} ${part.name}`.trim()] : within;
      for (const id of node.childIds ?? []) {
        const child = byId.get(id);
        if (child !== undefined) walk(child, inside);
      }
    };
    const [root] = nodes;
    if (root !== undefined) walk(root, []);
    return parts;
  } finally {
    await session.detach();
  }
}

/** Roles of boxes that are not announced. */
const unsaid: ReadonlySet<string> = new Set(['none', 'generic', 'InlineTextBox', 'RootWebArea']);

function partOf(
  { role, name, description, properties = [] }: TreeNode,
  within: readonly string[],
): SpokenPart {
  const property = (key: string): unknown => properties.find((one) => one.name === key)?.value.value;
  const level = property('level');
  return {
    role: role?.value ?? '',
    name: (name?.value ?? '').trim(),
    description: (description?.value ?? '').trim(),
    level: typeof level === 'number' ? level : undefined,
    // The document itself is focusable if nothing else has the focus.
    isFocusable: property('focusable') === true && role?.value !== 'RootWebArea',
    within,
  };
}

const landmarks: ReadonlySet<string> = new Set([
  'banner',
  'navigation',
  'main',
  'region',
  'complementary',
  'contentinfo',
  'dialog',
]);

/** Landmarks and headings in order: `region Query`, `2 Answer`. */
export function outlineOf(parts: readonly SpokenPart[]): readonly string[] {
  return parts.flatMap(({ role, name, level }) => {
    if (role === 'heading') return [`${level ?? '?'} ${name}`];
    return landmarks.has(role) ? [`${role} ${name}`.trim()] : [];
  });
}

/** Elements in the tab order without a name, or with a description that repeats it. */
export function unclearStops(parts: readonly SpokenPart[]): readonly string[] {
  return parts
    .filter(({ isFocusable }) => isFocusable)
    .filter(
      ({ role, name, description }) =>
        !unsaid.has(role) && (name === '' || (description !== '' && description === name)),
    )
    .map(({ role, name, description, within }) =>
      [...within.slice(-2), role, name, description].join(' / ').slice(0, 200),
    );
}
