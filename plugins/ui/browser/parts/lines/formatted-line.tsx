import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatCounted } from '../../model/format.js';
import type { JsonMember, JsonNode } from '../../model/lines/json-tree.js';
import { fieldFilter, type LineFormat } from '../../model/lines/line-format.js';
import type { LogRow } from '../../model/log-rows.js';
import { FieldRow, type LabelFilter } from './field-row.js';

interface Source {
  readonly row: LogRow;
  /** True if fields offer to change the query. */
  readonly canChange: boolean;
}

/** Fields that are rendered at once; a button shows as many again. */
const shownAtOnce = 200;
/** Objects nested deeper than this are folded at first. */
const openDepth = 3;
const longestText = 100_000;

/** A line in the form in which it can be read: a tree, a table, or a text with its breaks. */
export function FormattedLine({ format, ...source }: Source & { readonly format: LineFormat }): JSX.Element {
  switch (format.kind) {
    case 'text':
      return <LinePre text={format.text} />;
    case 'logfmt':
      return (
        <Some
          items={format.fields}
          render={({ name, value, label }, at) => (
            <FieldRow key={at} name={name} value={value} filter={filterOf(source, label, value, 'logfmt')} />
          )}
        />
      );
    case 'json':
      return <Node node={format.tree} name="" depth={0} {...source} />;
  }
}

/** A text with its line breaks, or its beginning. */
export function LinePre({ text }: { readonly text: string }): JSX.Element {
  return (
    <pre class="line-text" tabIndex={0} role="group" aria-label="The line">
      {text.slice(0, longestText)}
      {text.length > longestText && ` … (${formatCounted(text.length, 'character')}: “Copy line” has all)`}
    </pre>
  );
}

function Node({
  node,
  name,
  label,
  depth,
  ...source
}: Source & {
  readonly node: JsonNode;
  readonly name: string;
  readonly label?: JsonMember['label'];
  readonly depth: number;
}): JSX.Element {
  if (node.kind !== 'object' && node.kind !== 'array')
    return (
      <FieldRow
        name={name}
        value={node.text}
        kind={node.kind}
        filter={filterOf(source, label, node.text, 'json')}
      />
    );
  const members: readonly JsonMember[] =
    node.kind === 'object'
      ? node.members
      : node.elements.map((value, at) => ({ name: String(at), value, label: undefined }));
  const list = (
    <Some
      items={members}
      render={(member, at) => (
        <Node
          key={at}
          node={member.value}
          name={member.name}
          label={member.label}
          depth={depth + 1}
          {...source}
        />
      )}
    />
  );
  if (depth === 0) return list;
  const size =
    node.kind === 'object'
      ? `{ ${formatCounted(members.length, 'field')} }`
      : `[ ${formatCounted(members.length, 'element')} ]`;
  return (
    <li class="branch">
      <details open={depth < openDepth}>
        <summary>
          <span class="label-name">{name}</span> <span class="quiet">{size}</span>
        </summary>
        {list}
      </details>
    </li>
  );
}

/** A list of which a part is rendered at first. */
function Some<Item>({
  items,
  render,
}: {
  readonly items: readonly Item[];
  readonly render: (item: Item, at: number) => JSX.Element;
}): JSX.Element {
  const [count, setCount] = useState(shownAtOnce);
  return (
    <>
      <ul class="fields">{items.slice(0, count).map(render)}</ul>
      {count < items.length && (
        <button type="button" class="button is-quiet" onClick={() => setCount(count + shownAtOnce)}>
          Show {formatCounted(Math.min(shownAtOnce, items.length - count), 'more field')}
        </button>
      )}
    </>
  );
}

function filterOf(
  { row, canChange }: Source,
  label: JsonMember['label'],
  value: string,
  parser: 'json' | 'logfmt',
): LabelFilter | undefined {
  const filter = canChange ? fieldFilter(row, label, value, parser) : undefined;
  return filter === undefined ? undefined : { ...filter, of: 'row' };
}
