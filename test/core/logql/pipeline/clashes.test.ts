import test from 'ava';
import { LabelSet } from '../../../../core/base/label-set.js';
import { evaluateEntry, type EvaluatedEntry } from '../../../../core/logql/index.js';

type Names = Readonly<Record<string, string>>;

function run(query: string, line: string, stream: Names = {}, metadata: Names = {}): EvaluatedEntry {
  return evaluateEntry(query, {
    stream: LabelSet.from(Object.entries({ app: 'shop', ...stream })),
    structuredMetadata: LabelSet.from(Object.entries(metadata)),
    timestampNs: 1n,
    line,
  });
}

function labelsOf(query: string, line: string, stream: Names = {}, metadata: Names = {}): Names {
  const { labels } = run(query, line, stream, metadata);
  return Object.fromEntries(labels.labels.filter(([name]) => name !== 'app'));
}

test('what any stage has set is not extracted again', (t) => {
  const line = '{"team":"a","team_extracted":"b"}';
  const query = '{app="shop"} | label_format team_extracted="own" | json';
  t.deepEqual(labelsOf(query, line, { team: 'x' }), { team: 'x', team_extracted: 'own' });
  t.deepEqual(labelsOf('{app="shop"} | json | drop team | json', '{"team":"a"}'), {});
});

test('a clash inside an object is named after the key with the suffix, cleaned as a whole', (t) => {
  const stream = { box_id: 'x' };
  t.deepEqual(labelsOf('{app="shop"} | json', '{"box":{"id ":1}}', stream), {
    ...stream,
    box_id__extracted: '1',
  });
  t.deepEqual(labelsOf('{app="shop"} | json', '{"box":{"id":{"":1}}}', stream), {
    ...stream,
    box_id__extracted: '1',
  });
  t.deepEqual(labelsOf('{app="shop"} | json', '{"box_id ":1}', stream), { ...stream, box_id_extracted: '1' });
});

test('blank keys add nothing to names, and give no label at the top', (t) => {
  t.deepEqual(labelsOf('{app="shop"} | json', '{"":"top","n":{" ":"in"},"":{"":"deep"}}'), {
    '': 'deep',
    n: 'in',
  });
});

test('only the white space of Go is cut from keys', (t) => {
  t.deepEqual(labelsOf('{app="shop"} | json', '{"\\ufeffk":1,"\\u0085m":2}'), { _k: '1', m: '2' });
  t.deepEqual(labelsOf('{app="shop"} | logfmt', '\ufeffk=1 m=2'), { _k: '1', m: '2' });
});

test('unpack compares names as they are written, and the last value wins', (t) => {
  const line = '{"a-b":"1","a-b":"2","\\u005fentry":"rest"}';
  const { line: out, labels } = run('{app="shop"} | unpack', line, { a_b: 'x' });
  t.is(out, 'rest');
  t.is(labels.get('a_b'), '2');
  t.false(labels.has('a_b_extracted'));
  t.is(labelsOf('{app="shop"} | unpack', '{"_entry":"\\x"}')['__error__'], 'JSONParserErr');
});

test('logfmt with parameters looks at the key of the line, and stops at a clash without use', (t) => {
  t.deepEqual(labelsOf('{app="shop"} | logfmt team', 'team=a team=b team_extracted=c', { team: 'x' }), {
    team: 'x',
    team_extracted: 'a',
  });
  const grouped = 'sum by (bill) (count_over_time({app="shop"} | logfmt bill="invoice" [1m]))';
  t.deepEqual(labelsOf(grouped, 'invoice=7'), { bill: '' });
  t.deepEqual(labelsOf(grouped.replace('"invoice"', '"bill"'), 'bill=7'), { bill: '7' });
});

test('a JSON stage with paths fills in empty labels only when a path has led nowhere', (t) => {
  const query = '{app="shop"} | drop team | json team';
  t.deepEqual(labelsOf(query, '{"team":"a"}', { team: 'x' }), { team_extracted: 'a' });
  t.deepEqual(labelsOf(query, '{"other":"a"}', { team: 'x' }), { team: '' });
});

test('paths go through repeated keys and take indexes for keys', (t) => {
  t.deepEqual(labelsOf('{app="shop"} | json v="[0].a.b"', '[{"a":{"x":1},"a":{"b":2}}]'), { v: '2' });
  t.deepEqual(labelsOf('{app="shop"} | json v="a[1]"', '{"a":{"[1]":"y"}}'), { v: 'y' });
});

test('a label that was deleted stays away from a grouping by it, even when it is set again', (t) => {
  const grouped = (stages: string): Names =>
    labelsOf(`sum by (team) (count_over_time({app="shop"} ${stages} [1m]))`, 'x', { team: 'a' });
  t.deepEqual(grouped('| label_format team="b"'), { team: 'b' });
  t.deepEqual(grouped('| drop team | label_format team="b"'), {});
  t.deepEqual(grouped('| label_format team=team'), {});
  t.deepEqual(grouped('| drop team!="b" | label_format team="b"'), {});
});

test('parsers compare what they find early except where labels are grouped by', (t) => {
  const stages = '| json | label_format team="b" | team="b"';
  const line = '{"team":"a"}';
  t.false(run(`{app="shop"} ${stages}`, line).kept);
  t.false(run(`sum(count_over_time({app="shop"} ${stages} | n="" [1m]))`, line).kept);
  t.true(run(`sum by (x) (count_over_time({app="shop"} ${stages} [1m]))`, line).kept);
  // The last label that a query needs does not make the parser drop the line.
  t.true(run(`sum(count_over_time({app="shop"} ${stages} [1m]))`, line).kept);
});

test('a comparison behind one that passes everything is made in place of the next', (t) => {
  const stages = '| json | a=~".*" | b="1" | c="2"';
  t.false(run(`{app="shop"} ${stages}`, '{"c":"2","b":"1"}').kept);
  t.true(run(`{app="shop"} ${stages}`, '{"b":"1","c":"2"}').kept);
});

test('a parser does not run, and has no errors, once everything needed is there', (t) => {
  const query = 'sum by (team) (count_over_time({app="shop"} | json | line_format "{" | json [1m]))';
  t.deepEqual(labelsOf(query, '{"team":"a"}'), { team: 'a' });
  t.is(labelsOf(query, '{"other":"a"}')['__error__'], 'JSONParserErr');
});

test('an error of strict logfmt is compared at once', (t) => {
  const query = '{app="shop"} | logfmt --strict | drop __error__, __error_details__ | __error__=""';
  t.false(run(query, 'a==1').kept);
  t.true(run(query, 'a=1').kept);
});

test('logfmt reads on behind the quote of an invalid value, and takes line feeds in quotes', (t) => {
  t.deepEqual(labelsOf('{app="shop"} | logfmt', 'a="\\x"b=1 c="\\t\n" d=\ufffdz'), {
    b: '1',
    c: '\t\n',
    d: ' z',
  });
});

test('templates of one label_format see the labels and errors before the first of them', (t) => {
  const query = '{app="shop"} | label_format a="{{div 1 .nil}}", b="{{.__error__}}", c="{{.b}}"';
  const { __error__, b, c } = labelsOf(query, 'x');
  t.deepEqual([__error__, b, c], ['TemplateFormatErr', '', '']);
  t.deepEqual(labelsOf('{app="shop"} | drop app | label_format a="1", b="{{.a}}"', 'x'), { a: '1', b: '1' });
});

test('a line_format of nothing but a field copies the label, whatever is around it', (t) => {
  for (const template of ['{{.team}}', '{{- .team -}} ', '{{/* c */}}{{.team}}', '{{$x := .team}}'])
    t.is(run(`{app="shop"} | line_format \`${template}\``, 'x', { team: 'a' }).line.trim(), 'a', template);
  t.is(run('{app="shop"} | json | line_format "{{.__error__}}"', '{').line, '');
});

test('half a pair of surrogates is read as Loki adds it up', (t) => {
  t.deepEqual(labelsOf('{app="shop"} | json', '{"a":"\\ud800\\uffff","b":"\\udfff\\udfff"}'), {
    a: String.fromCodePoint(0x10000 + 0xffff - 0xdc00),
    b: ' ',
  });
  t.is(
    labelsOf('{app="shop"} | json', '{"\\ud800\\u0041" ')['__error_details__'],
    'Encountered an invalid escape sequence in a string',
  );
});

test('a duration too long for its number is invalid rather than without a unit', (t) => {
  const query = '{app="shop"} | json | d > 1s';
  t.is(
    labelsOf(query, '{"d":"12345678901234567890"}')['__error_details__'],
    'time: invalid duration "12345678901234567890"',
  );
  t.is(labelsOf(query, '{"d":"12"}')['__error_details__'], 'time: missing unit in duration "12"');
});

test('the details of an error are its own label, which templates see only beside a change', (t) => {
  const query = '{app="shop"} | json | drop __error__ | label_format x="{{.__error_details__}}"';
  t.is(labelsOf(query, '{')['x'], '');
});
