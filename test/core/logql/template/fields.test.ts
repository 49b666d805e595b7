import test from 'ava';
import { compileTemplate } from '../../../../core/logql/template/index.js';

const cases: readonly (readonly [template: string, fields: readonly string[] | 'all'])[] = [
  ['plain', []],
  ['{{.a}} {{.b}} {{.a}}', ['a', 'b']],
  ['{{.a | upper}}{{if .b}}{{.c}}{{else}}{{.d}}{{end}}', ['a', 'b', 'c', 'd']],
  ['{{$.a}}{{$x := .b}}{{$x}}{{$x.c}}', ['a', 'b']],
  ['{{with .a}}{{.}}{{.b}}{{$.c}}{{else}}{{.d}}{{end}}', ['a', 'c', 'd']],
  ['{{range (fromJson .a).items}}{{.name}}{{end}}', ['a']],
  ['{{print (upper .a) (.b)}}{{(fromJson .c).x.y}}', ['a', 'b', 'c']],
  ['{{index . "a"}}', ['a']],
  ['{{define "t"}}{{.a}}{{end}}{{template "t" .}}', ['a']],
  ['{{define "t"}}{{.}}{{end}}{{template "t" .b}}', 'all'],
  ['{{__line__}}{{now.Year}}', []],
  ['{{.}}', 'all'],
  ['{{$}}', 'all'],
  ['{{index $ .a}}', 'all'],
  ['{{index . .a}}', 'all'],
  ['{{range $k, $v := .}}{{$k}}{{end}}', 'all'],
  ['{{with .}}{{.a}}{{end}}', 'all'],
  ['{{range fromJson .a}}{{else}}{{.}}{{end}}', 'all'],
];

test('the labels that a template can read are known', (t) => {
  for (const [template, expected] of cases) {
    const { fields } = compileTemplate(template);
    t.deepEqual(fields === 'all' ? fields : [...fields].sort(), expected, template);
  }
});

test('a template reads no label that it does not name', (t) => {
  for (const [template, expected] of cases) {
    if (expected === 'all') continue;
    const read = new Set<string>();
    const get = (name: string): string => {
      read.add(name);
      return '';
    };
    const compiled = compileTemplate(template);
    compiled.render(get, '', 0n, () => t.fail(`${template} lists the labels`));
    for (const name of read) t.true(expected.includes(name), `${template} reads ${name}`);
  }
});
