import test from 'ava';
import {
  colourOf,
  columnsOf,
  LabelUsage,
  mostColumns,
  noChoice,
  parseColumnChoice,
  withColumn,
} from '../../../../../plugins/ui/browser/model/lines/label-columns.js';
import { logRows, type LogRow } from '../../../../../plugins/ui/browser/model/log-rows.js';

type Labels = Readonly<Record<string, string>>;

function rowsOf(labels: readonly Labels[], metadata: Labels = {}): readonly LogRow[] {
  return logRows(
    labels.map((stream, at) => ({
      stream,
      values: [[String(at + 1), 'x', { structuredMetadata: { ...metadata, trace_id: `id ${at}` } }]],
    })),
    'forward',
  );
}

const many = (labelsOf: (at: number) => Labels): readonly LogRow[] =>
  rowsOf(Array.from({ length: 100 }, (_, at) => labelsOf(at)));

test('columns are the labels that tell rows apart, those of a source first', (t) => {
  const rows = many((at) => ({
    zone: `z${at % 3}`,
    pod: `p${at % 9}`,
    service_name: `s${at % 3}`,
    cluster: 'one',
    level: at % 2 === 0 ? 'info' : 'error',
  }));
  t.deepEqual(new LabelUsage(rows).differing(), ['service_name', 'pod']);
});

test('a label that repeats another one, an id of each row and a single value are no columns', (t) => {
  const rows = many((at) => ({ service_name: `s${at % 3}`, app: `app of s${at % 3}`, env: 'prod' }));
  t.deepEqual(new LabelUsage(rows).differing(), ['service_name']);
  t.deepEqual(new LabelUsage(many(() => ({ service_name: 'one' }))).differing(), []);
});

test('a label that only some rows have tells them apart', (t) => {
  const rows = many((at): Labels => (at % 2 === 0 ? { container: 'web' } : {}));
  t.deepEqual(new LabelUsage(rows).differing(), ['container']);
});

test('columns can be hidden and added, are few, and as wide as their values', (t) => {
  const rows = many((at) => ({ service_name: `service-${at % 3}`, env: 'prod', a: '1', b: '2', c: '3' }));
  const usage = new LabelUsage(rows);
  const names = (choice = noChoice): readonly string[] =>
    columnsOf(usage, usage.differing(), choice).map(({ name }) => name);
  t.deepEqual(names(), ['service_name']);
  const hidden = withColumn(noChoice, 'service_name', false);
  t.deepEqual(names(hidden), []);
  t.deepEqual(names(withColumn(hidden, 'service_name', true)), ['service_name']);
  let choice = noChoice;
  for (const name of ['env', 'gone', 'a', 'b', 'c']) choice = withColumn(choice, name, true);
  t.deepEqual(names(choice), ['service_name', 'env', 'a', 'b']);
  t.is(names(choice).length, mostColumns);
  t.deepEqual(usage.column('service_name'), { name: 'service_name', width: 11 });
});

test('a stored choice of columns is read, anything else is none', (t) => {
  const choice = { added: ['a'], hidden: ['b'] };
  t.deepEqual(parseColumnChoice(JSON.stringify(choice)), choice);
  for (const text of [null, '', '1', 'null', '[]', '{"added":1}'])
    t.deepEqual(parseColumnChoice(text), noChoice);
  t.deepEqual(parseColumnChoice('{"added":["a",1],"hidden":{}}'), { added: ['a'], hidden: [] });
});

test('a value always has the same colour, and values differ', (t) => {
  t.is(colourOf('checkout'), colourOf('checkout'));
  const colours = new Set(Array.from({ length: 40 }, (_, at) => colourOf(`service-${at}`)));
  t.is(colours.size, 8);
});
