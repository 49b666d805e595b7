import test from 'ava';
import fc from 'fast-check';
import { jsonTree, type JsonNode } from '../../../../../plugins/ui/browser/model/lines/json-tree.js';
import {
  fieldFilter,
  formatLine,
  labelsShown,
} from '../../../../../plugins/ui/browser/model/lines/line-format.js';
import { logRows, type LogRow } from '../../../../../plugins/ui/browser/model/log-rows.js';

function rowOf(line: string, stream: Readonly<Record<string, string>>, parsed = {}): LogRow {
  const [row] = logRows([{ stream, values: [['1', line, { parsed }]] }], 'forward');
  if (row === undefined) throw new Error('no row');
  return row;
}

/** Converts a tree to the value that `JSON.parse` returns. */
function valueOf(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ name, value }) => [name, valueOf(value)]));
    case 'array':
      return node.elements.map(valueOf);
    case 'string':
      return node.text;
    default:
      return JSON.parse(node.text);
  }
}

test('a line of JSON is the tree that it writes', (t) => {
  const roots = fc.oneof(
    fc.array(fc.jsonValue({ maxDepth: 4 })),
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { noNullPrototype: true }),
  );
  fc.assert(
    fc.property(roots, fc.boolean(), (root, isLaidOut) => {
      const line = JSON.stringify(root, undefined, isLaidOut ? 2 : 0);
      const tree = jsonTree(line);
      t.deepEqual(tree && JSON.stringify(valueOf(tree)), JSON.stringify(JSON.parse(line)));
    }),
    { endOnFailure: true },
  );
  for (const line of ['', 'x', '{', '{"a":}', '{"a":1} x', '[1,]', '{"a" 1}', '12', '['.repeat(99)])
    t.is(jsonTree(line), undefined, line);
  t.deepEqual(jsonTree('[12345678901234567890]'), {
    kind: 'array',
    elements: [{ kind: 'number', text: '12345678901234567890' }],
  });
});

test('pairs are a table, and prose with an equals sign is a text', (t) => {
  t.deepEqual(formatLine('level=info msg="a \\"b\\"\\nc" took=3ms debug'), {
    kind: 'logfmt',
    fields: [
      ['level', 'info'],
      ['msg', 'a "b"\nc'],
      ['took', '3ms'],
    ].map(([name = '', value = '']) => ({
      name,
      value,
      label: { usual: name, clashing: `${name}_extracted` },
    })),
  });
  for (const line of ['', 'GET /a?b=c HTTP/1.1 200', 'a=b', 'set x = 1 and y = 2 for all'])
    t.is(formatLine(line).kind, 'text', line);
});

test('a stack trace written on one line has its breaks', (t) => {
  t.deepEqual(formatLine('Error: no\\n\\tat f (a.js:1)\\n\\tat g (b.js:2)'), {
    kind: 'text',
    text: 'Error: no\n\tat f (a.js:1)\n\tat g (b.js:2)',
  });
  t.deepEqual(formatLine('C:\\new\\table'), { kind: 'text', text: 'C:\\new\\table' });
});

test('a field is filtered by the label that its parser makes', (t) => {
  const line = '{"user":{"id":7,"na me":"x"},"app":"inner","tags":["a"],"none":null}';
  const row = rowOf(line, { app: 'shop' });
  const tree = jsonTree(line);
  const found: unknown[] = [];
  const walk = (node: JsonNode | undefined): void => {
    if (node?.kind !== 'object') return;
    for (const { label, value } of node.members) {
      if ('text' in value) found.push(fieldFilter(row, label, value.text, 'json')?.name);
      walk(value);
    }
  };
  walk(tree);
  t.deepEqual(found, ['user_id', 'user_na_me', 'app_extracted', undefined]);
});

test('a parsed line offers the labels that the query has made, and shows each once', (t) => {
  const line = 'status=500 app=inner note=';
  const row = rowOf(line, { app: 'shop' }, { status: '500', app_extracted: 'inner', more: 'x' });
  const names = (name: string): { usual: string; clashing: string } => ({
    usual: name,
    clashing: `${name}_extracted`,
  });
  t.deepEqual(fieldFilter(row, names('status'), '500', 'logfmt'), { name: 'status', parser: undefined });
  t.is(fieldFilter(row, names('status'), '404', 'logfmt'), undefined, 'the query has changed it');
  t.is(fieldFilter(row, names('other'), '1', 'logfmt'), undefined, 'the query has dropped it');
  t.deepEqual([...labelsShown(row, formatLine(line))], ['status', 'app_extracted']);
});
