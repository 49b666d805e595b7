import test from 'ava';
import { TemplateSyntaxError } from '../../../../core/logql/index.js';
import { compileTemplate } from '../../../../core/logql/template/index.js';
import { render, textOf } from './render.js';

test('a fault tells line and column in bytes, and the command', (t) => {
  t.deepEqual(render('é日{{ .a }}\n  {{ if len 5 }}{{ end }}', { a: 'x' }), {
    error: 'template: line:2:8: executing "line" at <len 5>: error calling len: len of type int',
  });
});

test('faults of label_format name the template label', (t) => {
  const rendered = compileTemplate('{{ unixToTime "q" }}', 'label').render(() => undefined, '', 0n);
  t.deepEqual(rendered, {
    error:
      'template: label:1:3: executing "label" at <unixToTime "q">: error calling unixToTime: ' +
      'unable to parse time \'q\': strconv.ParseInt: parsing "q": invalid syntax',
  });
});

test('a template can be rendered again after a fault', (t) => {
  const compiled = compileTemplate('{{ $x := .a }}{{ index $x 3 }}');
  t.true('error' in compiled.render(() => 'ab', '', 0n));
  t.deepEqual(
    compiled.render(() => 'abcd', '', 0n),
    { text: '100' },
  );
});

test('half of a letter leaves as U+FFFD, two halves as the letter', (t) => {
  t.is(textOf('{{ trunc 1 .a }}', { a: 'é' }), '\ufffd');
  t.is(textOf('{{ trunc 1 .a }}{{ substr 1 2 .a }}', { a: 'é' }), 'é');
  t.is(textOf('{{ print (trunc 2 .a) (substr 2 3 .a) | upper }}', { a: '日' }), '日');
  t.is(textOf('{{ trunc 3 .a }}', { a: '🙂' }), '\ufffd\ufffd\ufffd');
});

test('labels with names of object properties are labels like others', (t) => {
  t.is(textOf('{{ .__proto__ }}|{{ .constructor }}|{{ .toString | upper }}'), '||');
  t.is(textOf('{{ (fromJson .j).constructor | print }}', { j: '{}' }), '<nil>');
  t.is(textOf('{{ fromJson .j }}', { j: '{"__proto__":{"a":1}}' }), 'map[__proto__:map[a:1]]');
});

test('now is the time of the process with its monotonic clock', (t) => {
  t.regex(textOf('{{ now }}'), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \+0000 UTC m=\+\d+\.\d{9}$/);
  t.is(textOf('{{ date "2006" now }}'), String(new Date().getUTCFullYear()));
  t.is(textOf('{{ date "2006" .a }}'), String(new Date().getUTCFullYear()));
});

test('zones of the database have their abbreviations, others are UTC', (t) => {
  const at = (zone: string): string =>
    textOf(`{{ toDateInZone "2006-01-02 15:04" "${zone}" "2024-07-01 12:00" }}`);
  t.is(at('America/New_York'), '2024-07-01 12:00:00 -0400 EDT');
  t.is(at('Europe/Paris'), '2024-07-01 12:00:00 +0200 CEST');
  t.is(at('Australia/Sydney'), '2024-07-01 12:00:00 +1000 AEST');
  t.is(at('Asia/Shanghai'), '2024-07-01 12:00:00 +0800 CST');
  t.is(at('Asia/Dubai'), '2024-07-01 12:00:00 +0400 +04');
  t.is(at('Asia/Kathmandu'), '2024-07-01 12:00:00 +0545 +0545');
  t.is(at('Mars/Olympus'), '2024-07-01 12:00:00 +0000 UTC');
});

test('syntax errors come when the template is compiled', (t) => {
  const error = t.throws(() => compileTemplate('{{ .a'), { instanceOf: TemplateSyntaxError });
  t.is(error.message, 'template: line:1: unclosed action');
});
