import test from 'ava';
import { parseTemplate, TemplateSyntaxError } from '../../../core/logql/index.js';
import { templateFunctions } from '../../../core/logql/template/library/table.js';

const refused: readonly (readonly [string, string])[] = [
  ['{{', '1: unclosed action'],
  ['{{.a', '1: unclosed action'],
  ['{{\n.a', '2: unclosed action started at line:1'],
  ['{{nope .a}}', '1: function "nope" not defined'],
  ['\n\n{{nope}}', '3: function "nope" not defined'],
  ['{{if .a}}x', '1: unexpected EOF'],
  ['{{end}}', '1: unexpected {{end}}'],
  ['{{else}}', '1: unexpected {{else}}'],
  ['{{if .a}}{{else}}{{else}}{{end}}', '1: expected end; found {{else}}'],
  ['{{.a-b}}', "1: bad character U+002D '-'"],
  ['{{$x}}', '1: undefined variable "$x"'],
  ['{{if .a}}{{$x := 1}}{{end}}{{$x}}', '1: undefined variable "$x"'],
  ['{{"a}}', '1: unterminated quoted string'],
  ['{{`a}}', '1: unterminated raw quoted string'],
  ["{{'a}}", '1: unterminated character constant'],
  ["{{'ab'}}", "1: malformed character constant: 'ab'"],
  ['{{(.a}}', '1: unclosed left paren'],
  ['{{.a)}}', '1: unexpected right paren'],
  ['{{}}', '1: missing value for command'],
  ['{{if}}{{end}}', '1: missing value for if'],
  ['{{.a | 5}}', '1: non executable command in pipeline stage 2'],
  ['{{"a".b}}', '1: unexpected . after term "\\"a\\""'],
  ['{{/* x}}', '1: unclosed comment'],
  ['{{/* x */ }}', '1: comment ends before closing delimiter'],
  ['{{1x}}', '1: bad number syntax: "1x"'],
  ['{{99999999999999999999}}', '1: integer overflow: "99999999999999999999"'],
  ['{{break}}', '1: {{break}} outside {{range}}'],
  ['{{template .a}}', '1: unexpected ".a" in template clause'],
  ['{{range $a, $b, $c := .x}}{{end}}', '1: too many declarations in range'],
  ['{{with $a, $b := .x}}{{end}}', '1: too many declarations in with'],
  ['{{range $a, 5 := .x}}{{end}}', '1: range can only initialize variables'],
  ['{{.a : 5}}', '1: expected :='],
  ['{{.a \u00a7}}', "1: unrecognized character in action: U+00A7 '\u00a7'"],
  ['{{.a , .b}}', '1: unexpected "," in operand'],
  ['{{define "a"}}', '1: unexpected EOF'],
  ['{{if .a}}{{define "a"}}x{{end}}{{end}}', '1: unexpected <define> in command'],
];

for (const [source, text] of refused) {
  test(`the template ${JSON.stringify(source)} is refused in Go's words`, (t) => {
    const error = t.throws(() => parseTemplate(source, 'line'), { instanceOf: TemplateSyntaxError });
    t.is(error.message, `template: line:${text}`);
  });
}

const accepted = [
  ...[
    '',
    'a } b',
    '{{.a}}',
    '{{.}}',
    '{{.a.b}}',
    '{{ .a | upper | trunc 3 }}',
    '{{/* c */}}x',
    '{{- .a -}}',
    '{{-1}}',
  ],
  ...['{{if .a}}x{{else if .b}}y{{else}}z{{end}}', '{{with $x := .a}}{{$x.b}}{{else with .c}}{{.}}{{end}}'],
  ...[
    '{{range $i, $e := .a}}{{if $i}}{{break}}{{end}}{{continue}}{{else}}x{{end}}',
    '{{range .a}}{{.}}{{end}}',
  ],
  ...[
    '{{$x := 1}}{{$x = 2}}{{$x}}',
    '{{(index .a 0).b.c}}',
    '{{printf "%s-%d" .a 5}}',
    "{{'a'}}{{0x1F}}{{1e3}}{{1i}}",
  ],
  ...[
    '{{define "t"}}x{{end}}{{template "t" .}}',
    '{{block "b" .a}}{{.}}{{end}}',
    '{{nil | print}}',
    '{{true}}',
  ],
  ...['{{ .a\n | upper }}', '{{$}}', '{{$.a}}', '{{template "x"}}', '{{if and .a (not .b)}}{{end}}'],
];

test('templates of the language are accepted', (t) => {
  for (const source of accepted) t.notThrows(() => parseTemplate(source, 'line'), source);
});

test('every function of Loki is known', (t) => {
  for (const name of templateFunctions) t.notThrows(() => parseTemplate(`{{${name} .a}}`, 'label'));
});

test('trim markers take the white space beside them', (t) => {
  const texts = (source: string): readonly string[] =>
    parseTemplate(source, 'line').body.flatMap((node) => (node.kind === 'text' ? [node.text] : []));
  t.deepEqual(texts('a \n{{- .x -}}\t b'), ['a', 'b']);
  t.deepEqual(texts('a {{- /* c */ -}} b'), ['a', 'b']);
  t.deepEqual(texts('a {{.x}} b'), ['a ', ' b']);
});

test('a pipeline is parsed into commands and arguments', (t) => {
  const [node] = parseTemplate('{{$y := .a.b | printf "%s" $.c (len .d).e}}', 'line').body;
  if (node?.kind !== 'action') return t.fail();
  t.deepEqual(node.pipe.declarations, ['$y']);
  t.false(node.pipe.isAssignment);
  t.deepEqual(
    node.pipe.commands.map(({ args }) => args.map(({ kind }) => kind)),
    [['field'], ['identifier', 'string', 'variable', 'chain']],
  );
});

test('numbers know their integer and float values', (t) => {
  const [node] = parseTemplate("{{print 0x10 017 1.5 2.0 'a' -3}}", 'line').body;
  if (node?.kind !== 'action') return t.fail();
  const numbers = node.pipe.commands
    .flatMap(({ args }) => args)
    .flatMap((arg) => (arg.kind === 'number' ? [arg] : []));
  t.deepEqual(
    numbers.map(({ integer, float }) => [integer, float]),
    [
      [16n, 16],
      [15n, 15],
      [undefined, 1.5],
      [2n, 2],
      [97n, 97],
      [-3n, -3],
    ],
  );
});

test('deep nesting is refused instead of exhausting the stack', (t) => {
  for (const source of [
    `{{${'('.repeat(50_000)}`,
    '{{if .a}}'.repeat(20_000),
    '{{if .a}}{{else if .b}}'.repeat(9_000),
  ]) {
    t.throws(() => parseTemplate(source, 'line'), { instanceOf: TemplateSyntaxError, message: /depth|EOF/ });
  }
});
