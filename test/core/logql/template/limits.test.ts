import test from 'ava';
import { ApiError } from '../../../../core/base/errors/api-error.js';
import { compileTemplate } from '../../../../core/logql/template/index.js';
import { render } from './render.js';

const long = 'x'.repeat(60_000);
const numbers = JSON.stringify(Array.from({ length: 10_000 }, (_unused, index) => index));
const labels = { long, wide: '日'.repeat(20_000), numbers, digits: '9'.repeat(60_000) };

const refused: readonly (readonly [limit: string, template: string])[] = [
  ['output', '{{.long}}{{.long}}'],
  ['output', '{{.wide}}{{.wide}}'],
  ['output', '{{.long}}{{.long}}{{upper "x"}}'],
  ['output', '{{.wide}}{{upper .wide}}'],
  ['output', '{{range 100}}{{$.long}}{{end}}'],
  ['printf', '{{printf "%s%s" .long .long}}'],
  ['printf', '{{printf "%9000v" (fromJson .numbers)}}'],
  ['printf', `{{printf "x" ${'1 '.repeat(101)}}}`],
  ['printf width', '{{printf "%65537d" 1}}'],
  ['printf width', '{{printf "%*d" 65537 1}}'],
  ['printf width', '{{printf "%.65537f" 1.0}}'],
  ['print input', `{{print ${'1 '.repeat(101)}}}`],
  ['print input', `{{print ${'.long '.repeat(20)}}}`],
  ['print input', `{{$x := "a"}}{{range 100}}{{$x = print $x $x}}{{end}}`],
  ['replacement', '{{replace "x" .long .long}}'],
  ['replacement', '{{Replace .long "" "yyyyyyyyyyyyyyyyyyyy" -1}}'],
  ['replacement', '{{regexReplaceAll "x" .long (repeat 1000 "$0")}}'],
  ['replacement', '{{regexReplaceAllLiteral "x" .long .long}}'],
  ['function input', `{{default ${'.long '.repeat(20)}}}`],
  ['function input', `{{add ${'1 '.repeat(101)}}}`],
  ['function output', '{{repeat 1000000000 "x"}}'],
  ['function output', '{{indent 1000000000 "x"}}'],
  ['function output', '{{indent 10000 (repeat 1000 "\\n")}}'],
  ['function output', '{{alignLeft 1000000000 "x"}}'],
  ['function output', '{{alignRight 1000000000 "x"}}'],
  ['execution', '{{range 1000000000}}{{end}}'],
  ['execution', '{{range 1000}}{{range 1000}}x{{end}}{{end}}'],
  ['execution', '{{range 1000000}}{{$x := upper $.long}}{{end}}'],
  ['execution', '{{range 1000000}}{{$x := regexReplaceAll "(x+x+)+y" $.long ""}}{{end}}'],
  ['execution', '{{count "((a{30}){30}b){30}" .long}}'],
  ['execution', '{{range $i, $e := fromJson .numbers}}{{$x := count (print "(a|b){900}" $e) "a"}}{{end}}'],
  ['execution', '{{range 1000000}}{{$x := fromJson $.numbers}}{{end}}'],
  ['execution', '{{$j := fromJson .numbers}}{{range 1000000}}{{$x := print $j}}{{end}}'],
  ['execution', '{{range 1000000}}{{$x := divf 1e308 1e-308 1e-308}}{{end}}'],
  ['execution', '{{range 1000000}}{{$x := printf "%.1000e" 1e-300}}{{end}}'],
  ['nesting', '{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}'],
  ['nesting', '{{template "line" .}}'],
  ['nesting', `{{fromJson "${'['.repeat(300)}${']'.repeat(300)}"}}`],
  ['nesting', `${'{{if .a}}'.repeat(65)}${'{{end}}'.repeat(65)}`],
  ['syntax', '{{upper .a}}'.repeat(600)],
  ['syntax', `{{print ${'(print 1) '.repeat(1100)}}}`],
];

for (const [index, [limit, template]] of refused.entries()) {
  test(`${limit}: ${template.slice(0, 60)} is refused (${String(index)})`, (t) => {
    const error = t.throws(() => render(template, labels), { instanceOf: ApiError });
    t.is(error.message, `line_format ${limit} limit exceeded`);
    t.is(error.status, 400);
  });
}

test('what is just within the limits is formatted', (t) => {
  t.deepEqual(render('{{.x}}', { x: 'x'.repeat(65_536) }), { text: 'x'.repeat(65_536) });
  t.deepEqual(render('{{.x}}{{upper "é"}}', { x: 'x'.repeat(65_534) }), { text: `${'x'.repeat(65_534)}É` });
  t.deepEqual(render('{{printf "%65536d" 1 | len}}'), { text: '65536' });
  t.deepEqual(render(`{{add ${'1 '.repeat(100)}}}`), { text: '100' });
  t.notThrows(() => compileTemplate('{{.a}}x'.repeat(340)));
  t.notThrows(() => compileTemplate(`${'{{if .a}}'.repeat(64)}${'{{end}}'.repeat(64)}`));
});

test('long lines pass through several replacements', (t) => {
  const line = 'at com.example.Service.call(Service.java:42)\n'.repeat(600);
  const rendered = render(
    '{{ .l | replace "com." "" | upper | trunc 20000 }}{{ regexReplaceAll "[0-9]+" .l "N" | len }}',
    { l: line },
  );
  t.true('text' in rendered && rendered.text.startsWith('AT EXAMPLE.SERVICE'));
});
