import test from 'ava';
import fc from 'fast-check';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { TemplateSyntaxError } from '../../../../core/logql/index.js';
import { compileTemplate, type Rendered } from '../../../../core/logql/template/index.js';
import { templateFunctions } from '../../../../core/logql/template/library/table.js';
import { render } from './render.js';

const labels = { a: 'Ada', n: '17', j: '{"k":[1,{"z":null}],"s":"é"}', u: '日本🙂', long: 'x'.repeat(5000) };

const constant = fc.oneof(
  fc.constantFrom('0', '1', '-1', '1.5', '1e21', '9223372036854775807', "'x'", '2i', 'nil', 'true', '100'),
  fc.constantFrom('"%5.2f"', '"%[3]*.[2]*[1]f|%v"', '"2006-01-02"', '"(a+)+"', '"a{100}"', '"Europe/Berlin"'),
  fc.constantFrom(
    '.a',
    '.n',
    '.j',
    '.u',
    '.long',
    '.missing',
    '.',
    '$',
    '$.a',
    '.a.b',
    '__timestamp__.Month',
  ),
  fc.string({ maxLength: 6 }).map((text) => JSON.stringify(text)),
);
const names = fc.constantFrom(...templateFunctions);

const { command } = fc.letrec<{ command: string; argument: string }>((tie) => ({
  argument: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'arguments' },
    constant,
    tie('command').map((inner) => `(${inner})`),
    tie('command').map((inner) => `(${inner}).k`),
  ),
  command: fc
    .tuple(names, fc.array(tie('argument'), { maxLength: 4 }))
    .map(([name, args]) => [name, ...args].join(' ')),
}));

const { list } = fc.letrec<{ list: string; node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'nodes' },
    fc.constantFrom('text', ' {{- "x" -}} ', '{{/* c */}}', '{{$v := 1}}{{$v}}', '{{break}}'),
    command.map((inner) => `{{${inner}}}`),
    fc.tuple(command, command).map(([a, b]) => `{{${a} | ${b}}}`),
    fc.tuple(command, tie('list'), tie('list')).map(([c, a, b]) => `{{if ${c}}}${a}{{else}}${b}{{end}}`),
    fc.tuple(command, tie('list')).map(([c, a]) => `{{with $w := ${c}}}${a}{{$w}}{{end}}`),
    fc.tuple(command, tie('list')).map(([c, a]) => `{{range $i, $e := ${c}}}${a}{{continue}}{{end}}`),
    tie('list').map((inner) => `{{define "t"}}${inner}{{end}}{{template "t" .}}`),
  ),
  list: fc.array(tie('node'), { maxLength: 3 }).map((nodes) => nodes.join('')),
}));

/** Renders a template; undefined if it is refused with one of the declared errors. */
function attempt(template: string): Rendered | undefined {
  try {
    return render(template, labels);
  } catch (error) {
    if (error instanceof TemplateSyntaxError || error instanceof ApiError) return undefined;
    throw error;
  }
}

test('templates of all functions end in a text, a fault or a declared error', (t) => {
  let formatted = 0;
  fc.assert(
    fc.property(list, (template) => {
      const rendered = attempt(template);
      if (rendered === undefined) return true;
      formatted++;
      return 'text' in rendered
        ? Buffer.byteLength(rendered.text) <= 65_536
        : /^template: line:\d+:\d+: executing "(?:line|t)" at </.test(rendered.error);
    }),
    { numRuns: 3000 },
  );
  t.true(formatted > 0);
});

test('random text between delimiters ends in a text, a fault or a declared error', (t) => {
  const piece = fc.oneof(
    fc.constantFrom('{{', '}}', ' ', '.a', '|', '(', ')', '$x', ':=', 'if', 'end', 'range'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      attempt(pieces.join(''));
    }),
    { numRuns: 3000 },
  );
  t.pass();
});

test('the short way for plain fields gives what the evaluator gives', (t) => {
  const part = fc.oneof(
    fc.constantFrom('{{.a}}', '{{ .n }}', '{{.missing}}', '{{.u}}'),
    fc.constantFrom('x', ' é ', '\n'),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const template = parts.join('');
      t.deepEqual(render(template, labels), render(`${template}{{print}}`, labels));
    }),
  );
});

test('every function can be called with any of the constants', (t) => {
  fc.assert(
    fc.property(names, fc.array(constant, { maxLength: 4 }), (name, args) => {
      attempt(`{{${[name, ...args].join(' ')}}}`);
    }),
    { numRuns: 3000 },
  );
  t.notThrows(() => compileTemplate('{{call .a}}'));
});
