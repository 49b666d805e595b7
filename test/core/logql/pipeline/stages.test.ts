import test from 'ava';
import { entryOf, extractorOf, objectOf, parsedLabels, pipelineOf } from './run-query.js';

test('a comparison is made as soon as a parser has the label, wherever the comparison stands', (t) => {
  const formatted = pipelineOf('| logfmt | label_format level="fixed" | level="fixed"');
  t.is(parsedLabels(formatted, 'level=info'), undefined);
  t.deepEqual(parsedLabels(formatted, 'n=1'), { level: 'fixed', n: '1' });
  for (const parser of ['json', 'pattern `<_>"level":"<level>"<_>`', 'regexp `level":"(?P<level>\\w+)`']) {
    const early = pipelineOf(`| ${parser} | label_format level="fixed" | level="fixed"`);
    t.is(parsedLabels(early, '{"level":"info"}'), undefined, parser);
    t.deepEqual(parsedLabels(early, '{"level":"fixed"}'), { level: 'fixed' }, parser);
  }
});

test('a comparison joined with another is made only where it stands', (t) => {
  const pipeline = pipelineOf('| logfmt | label_format level="fixed" | level="fixed" and n="1"');
  t.deepEqual(parsedLabels(pipeline, 'level=info n=1'), { level: 'fixed', n: '1' });
});

test('what an early comparison says of a value stays when the value is changed later', (t) => {
  const pipeline = pipelineOf('| logfmt | label_format took=seconds | took>2');
  t.deepEqual(parsedLabels(pipeline, 'took=1m seconds=60'), {
    took: '60',
    __error__: 'LabelFilterErr',
    __error_details__: 'strconv.ParseFloat: parsing "1m": invalid syntax',
  });
});

test('details that outlive their error are seen only beside another label that is not of the stream', (t) => {
  const pipeline = pipelineOf('| json | drop __error__');
  t.deepEqual(parsedLabels(pipeline, 'x'), {});
  t.deepEqual(Object.keys(parsedLabels(pipeline, 'x', { trace_id: '1' }) ?? {}), ['__error_details__']);
});

test('line filters come before decolorize, and stay behind what changes the line', (t) => {
  const red = '\u001b[31mred\u001b[0m plain';
  t.is(pipelineOf('| decolorize |= "red plain"')(entryOf(red)), undefined);
  t.is(pipelineOf('| decolorize | app="shop" |= "red plain"')(entryOf(red))?.line, 'red plain');
  t.is(pipelineOf('| line_format "new" |= "old"')(entryOf('old')), undefined);
  t.is(pipelineOf('| unpack |= "x"')(entryOf('{"_entry":"y","x":"x"}')), undefined);
});

test('sizes in a query are read as Loki reads them from its own print', (t) => {
  const pipeline = pipelineOf('| logfmt | size < 1KiB');
  t.is(parsedLabels(pipeline, 'size=1010B'), undefined);
  t.deepEqual(parsedLabels(pipeline, 'size=999B'), { size: '999B' });
});

test('`.*` at an end of a plain text goes over line feeds, any other point does not', (t) => {
  const line = '{"msg":"hi\\nthere"}';
  t.truthy(parsedLabels(pipelineOf('| json | msg=~"hi.*"'), line));
  t.is(parsedLabels(pipelineOf('| json | msg=~"hi.+"'), line), undefined);
  t.truthy(parsedLabels(pipelineOf('| json | msg=~"(?s)hi.+"'), line));
  t.is(parsedLabels(pipelineOf('| json | nope=~"|foo"'), line), undefined);
});

test('keep and drop compare the whole value, over line feeds too', (t) => {
  const line = '{"msg":"hi\\nthere","n":"1"}';
  t.deepEqual(parsedLabels(pipelineOf('| json | drop msg=~"hi.+"'), line), { n: '1' });
  t.deepEqual(parsedLabels(pipelineOf('| json | keep n, msg=~"h"'), line), { n: '1' });
});

test('a stream label that is not seen any more still makes a parsed one step aside', (t) => {
  const result = pipelineOf('| drop app | logfmt')(entryOf('app=x'));
  t.deepEqual(result && objectOf(result.parsed), { app_extracted: 'x' });
  t.is(result?.stream.size, 0);
});

test('a repeated parser leaves the first value of a line alone', (t) => {
  t.deepEqual(parsedLabels(pipelineOf('| logfmt | regexp `(?P<a>2)`'), 'a=1 b=2'), { a: '1', b: '2' });
  t.deepEqual(parsedLabels(pipelineOf('| logfmt | drop a | logfmt'), 'a=1 b=2'), { b: '2' });
});

test('without stages metadata give way to labels of the stream', (t) => {
  const result = pipelineOf('')(entryOf('x', { app: 'other', id: '1' }));
  t.deepEqual(result && objectOf(result.structuredMetadata), { app_extracted: 'other', id: '1' });
  const untouched = entryOf('x', { id: '1' });
  t.is(pipelineOf('')(untouched)?.structuredMetadata, untouched.structuredMetadata);
});

test('errors fail a metric query unless the query names them', (t) => {
  const failing = extractorOf('count_over_time({app="shop"} | json [1m])')(entryOf('x'));
  t.is(failing?.error, 'JSONParserErr');
  const named = extractorOf('sum by (__error__) (count_over_time({app="shop"} | json [1m]))')(entryOf('x'));
  t.is(named?.error, undefined);
  t.is(named?.labels.get('__preserve_error__'), 'true');
});

test('a metric query without need of labels never parses', (t) => {
  const count = extractorOf('sum(count_over_time({app="shop"} | json | unpack | logfmt --strict [1m]))');
  t.deepEqual(count(entryOf('{broken')), { value: 1, labels: count(entryOf('x'))?.labels, error: undefined });
  t.is(count(entryOf('x'))?.labels.size, 0);
});

test('bytes are counted as they are sent, of the line as the stages leave it', (t) => {
  t.is(extractorOf('bytes_over_time({app="shop"}[1m])')(entryOf('né'))?.value, 3);
  const shaped = extractorOf('bytes_rate({app="shop"} | logfmt | line_format "{{.a}}" [1m])');
  t.is(shaped(entryOf('a=xyz b=1'))?.value, 3);
});

test('a formatted line has a limit, however simple its template', (t) => {
  for (const template of ['{{.a}}', '{{.a}} ', '{{ .a | trim }}']) {
    const pipeline = pipelineOf(`| json | line_format "${template}"`);
    t.is(pipeline(entryOf(JSON.stringify({ a: 'é'.repeat(30_000) })))?.line.trim().length, 30_000);
    t.throws(() => pipeline(entryOf(JSON.stringify({ a: 'é'.repeat(33_000) }))), {
      message: 'line_format output limit exceeded',
    });
  }
});

test('an empty pattern as a label filter is passed by everything, however it is written', (t) => {
  for (const pattern of ['', '()', '(?:)', '(?i)', '||', '(|())']) {
    t.deepEqual(parsedLabels(pipelineOf(`| logfmt | n=~"${pattern}"`), 'n=1'), { n: '1' }, pattern);
    t.is(parsedLabels(pipelineOf(`| logfmt | n!~"${pattern}"`), 'n=1'), undefined, pattern);
  }
  for (const pattern of ['^$', '^', '|2', '(2|)']) {
    t.is(parsedLabels(pipelineOf(`| logfmt | n=~"${pattern}"`), 'n=1'), undefined, pattern);
  }
});

test('a line that is marked with an error passes a comparison of addresses', (t) => {
  const pipeline = pipelineOf('| json | addr=ip("10.0.0.0/8")');
  t.is(parsedLabels(pipeline, 'x')?.['__error__'], 'JSONParserErr');
  t.is(parsedLabels(pipeline, '{"addr":"192.168.0.1"}'), undefined);
  t.is(parsedLabels(pipeline, '{"other":"10.0.0.1"}'), undefined);
});

test('an address is looked for anywhere in the value of a label', (t) => {
  for (const [op, value, isKept] of [
    ['=', '10.1.2.3:80', true],
    ['=', 'to 10.1.2.3', true],
    ['=', '11.1.2.3:80', false],
    ['!=', '10.1.2.3:80', false],
    ['!=', 'no address', true],
    ['!=', '', true],
  ] as const) {
    const pipeline = pipelineOf(`| label_format addr="${value}" | addr${op}ip("10.0.0.0/8")`);
    t.is(parsedLabels(pipeline, 'x') !== undefined, isKept, `${op} ${value}`);
  }
  t.is(parsedLabels(pipelineOf('| addr!=ip("10.0.0.0/8")'), 'x'), undefined);
});
