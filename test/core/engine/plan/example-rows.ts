import fc from 'fast-check';
import { visit, type LogExpr } from '../../../../core/logql/index.js';
import type { Fields } from '../../../plugins/embedded-backend/logsql/run-query.js';

const oddTexts = ['', '', ' ', '\n', '\ufffd', '"', '1', '1234', 'é', 'terror'];
const oddValues = [
  '',
  '0',
  '200',
  '500',
  'ten',
  '10.1.2.3',
  '11.1.2.3',
  'Info',
  '0.30000000000000004',
  'é\n',
];

/** Rows that a query may or may not match: they are made of the names and texts in the query, whole, in parts and slightly changed. */
export function rowsAround({ selector, stages }: LogExpr): fc.Arbitrary<Fields> {
  const wanted = selector.matchers.map(({ name, value }): readonly [string, string] => [name, value]);
  const [names, texts] = [new Set<string>(), new Set<string>()];
  for (const part of stages.length === 0 ? [selector] : stages)
    visit(part, (node) => {
      if ('name' in node) names.add(node.name);
      if ('value' in node && typeof node.value === 'string') texts.add(node.value);
      if (node.kind === 'line-filter') for (const { value } of node.alternatives) texts.add(value);
    });
  const spelled = [...names].flatMap((name) => [name, name.replaceAll('_', '.'), `scope.attributes.${name}`]);
  const anyValue = fc.constantFrom(...texts, ...texts, ...texts, ...oddValues);
  const label = fc.tuple(fc.constantFrom(...names, 'app', 'service'), anyValue);
  const labels = fc.array(label, { maxLength: 2 });
  const selected = fc.oneof({ weight: 4, arbitrary: fc.constant(wanted) }, fc.subarray(wanted));
  const fields = fc.dictionary(fc.constantFrom(...spelled, 'level'), anyValue, { maxKeys: 2 });
  const isJson = stages.some(({ kind }) => kind === 'json');
  const line = isJson ? fc.oneof(lineAround([...texts]), objectOf([...names])) : lineAround([...texts]);
  return fc.record({ labels, selected, fields, line, cameByOtlp: fc.boolean() }).map((made): Fields => {
    const pairs = [...made.selected, ...made.labels].filter(([, value]) => value !== '');
    const stream = new Map(made.cameByOtlp ? [...pairs, ['host.name', 'h']] : pairs);
    // A stream field has its value in every row that does not override it.
    const fields = Object.entries(made.fields).filter(([name, value]) => value !== '' || !stream.has(name));
    return {
      _time: '2026-11-01T00:00:00Z',
      _stream: `{${[...stream].map(([name, value]) => `${JSON.stringify(name)}=${JSON.stringify(value)}`).join(',')}}`,
      _msg: made.line,
      ...Object.fromEntries(stream),
      ...Object.fromEntries(fields),
      ...(made.cameByOtlp ? { severity_number: '9' } : {}),
    };
  });
}

const jsonValues = [
  '0',
  '200',
  '"200"',
  '499.5',
  '500',
  '"500"',
  '5e2',
  '+500',
  '"ten"',
  'null',
  '[500]',
  '{}',
  'NaN',
];

/** JSON lines with one of the names as a key; some are malformed. */
function objectOf(names: readonly string[]): fc.Arbitrary<string> {
  const value = fc.constantFrom(...jsonValues);
  const key = fc.constantFrom(...names, ...names, ...names.map((name) => ` ${name}\\t`), 'other');
  const rest = fc.constantFrom('', '', '', ',"a":1', ',"a":"\\u0061"', ',', '} x');
  return fc
    .tuple(fc.array(fc.tuple(key, value), { maxLength: 2 }), rest)
    .map(([pairs, end]) => `{${pairs.map(([name, text]) => `"${name}":${text}`).join(',')}${end}}`);
}

/** Lines that contain a text, or its literal pieces in order or reversed, with changes and other text in between. */
function lineAround(texts: readonly string[]): fc.Arbitrary<string> {
  const odd = fc.constantFrom(...oddTexts);
  const plain = texts.map((text) => text.replaceAll(/\[0-9\](?:\+|\{4,\})/g, '1234'));
  return fc.constantFrom(...plain, 'x').chain((text) => {
    const pieces = text.split(/<_>|\(\?[a-z:]*|\\s|[().|?*+\ufffd]/).filter((piece) => piece !== '');
    const nearly = pieces.map((piece) =>
      fc.oneof(
        { weight: 6, arbitrary: fc.constant(piece) },
        { weight: 3, arbitrary: recased(piece) },
        { weight: 1, arbitrary: odd },
      ),
    );
    const ordered = fc.oneof(fc.constant([text]), fc.tuple(...nearly));
    return fc
      .oneof(
        { weight: 3, arbitrary: ordered },
        ordered.map((parts) => parts.toReversed()),
      )
      .chain((parts) => fc.tuple(odd, ...parts.map((part) => odd.map((filler) => part + filler))))
      .map((parts) => parts.join(''));
  });
}

/** The text in another case, with the letters that only some case-insensitive matchers equate with k and s. */
function recased(text: string): fc.Arbitrary<string> {
  return fc.constantFrom(text.toUpperCase(), text.replaceAll('k', '\u212a').replaceAll('s', '\u017f'));
}
