import test from 'ava';
import { editQuery } from '../../../plugins/ui/edit.js';
import { narrowingOf } from '../../../plugins/ui/narrowing.js';

const mend = (query: string, params: Readonly<Record<string, string>>): string =>
  editQuery(new Map(Object.entries({ query, ...params }).map(([name, value]) => [name, [value]])), 'reject');

test('too many series become one for each value of a label', (t) => {
  const by = { change: 'sum-by', name: 'app' };
  t.is(mend('rate({a="b"}[1m])', by), 'sum by (app)(rate({a="b"}[1m]))');
  t.is(mend('max by (pod) (rate({a="b"}[1m]))', by), 'max by (app)(rate({a="b"}[1m]))');
  t.is(mend('topk(3, rate({a="b"}[1m]))', by), 'topk(3,sum by (app)(rate({a="b"}[1m])))');
  t.is(mend('rate({a="b"}[1m]) / 2', by), '(sum by (app)(rate({a="b"}[1m])) / 2)');
});

test('lines with errors are skipped, after an unwrap too', (t) => {
  const skip = { change: 'skip-errors' };
  t.is(mend('{a="b"} | json', skip), '{a="b"} | json | __error__=""');
  t.is(
    mend('sum_over_time({a="b"} | json | unwrap x [1m])', skip),
    'sum_over_time({a="b"} | json | __error__="" | unwrap x | __error__=""[1m])',
  );
});

test('a variable of a range is filled in, wherever it stands', (t) => {
  const fill = (query: string, name: string): string =>
    mend(query, { change: 'fill-range', name, value: '5m' });
  t.is(fill('rate({a="b"}[$__interval])', '$__interval'), 'rate({a="b"}[5m])');
  t.is(
    fill('sum(rate({a="[$__auto]"} |= "😀" [$__auto]))\n/ sum(rate({a="é"}[$__auto]))', '$__auto'),
    'sum(rate({a="[$__auto]"} |= "😀" [5m]))\n/ sum(rate({a="é"}[5m]))',
  );
  t.is(fill('count_over_time({a="b"}[])', ''), 'count_over_time({a="b"}[5m])');
  // Another variable has a separate error.
  t.is(
    fill('rate({a="b"}[$__interval]) > rate({a="b"}[$__range])', '$__interval'),
    'rate({a="b"}[5m]) > rate({a="b"}[$__range])',
  );
  t.is(fill('rate({a="b"}[1h])', '$__interval'), 'rate({a="b"}[1h])');
  // An invalid value is rejected like any other text, without an endless loop.
  t.is(mend('rate({a="b"}[x])', { change: 'fill-range', name: 'x', value: 'x' }), 'rate({a="b"}[x])');
});

test('a selector that could match nothing gets any value of a label, and then the chosen ones', (t) => {
  const any = { change: 'any-stream', name: 'app' };
  t.is(mend('{}', any), '{app=~".+"}');
  t.is(mend('{app=~".*"} |= "x"', any), '{app=~".+"} |= "x"');
  t.is(mend('{app!~"b", c=""} | json', any), '{app!~"b", c="", app=~".+"} | json');
  t.is(
    mend('sum(rate({}[5m])) / sum(rate({app="b"}[5m])) / sum(rate({c=~".*"}[5m]))', any),
    'sum(rate({app=~".+"}[5m])) / sum(rate({app="b"}[5m])) / sum(rate({c=~".*", app=~".+"}[5m]))',
  );
  t.is(mend('{} |= "x', any), '{} |= "x');
  const choose = { change: 'choose', of: 'stream', name: 'app', value: 'cart' };
  t.is(mend('{} |= "x"', choose), '{app="cart"} |= "x"');
  t.is(mend('{c=~".*"}', choose), '{c=~".*", app="cart"}');
});

test('a stage, a label and a name are changed where they stand', (t) => {
  const query = '{a="b", c="d"} |= "x" | json | y > 1 or z="2"';
  t.is(mend(query, { change: 'without-stage', value: '0' }), '{a="b", c="d"} | json | ( y>1 or z="2" )');
  t.is(mend('{a="b", c="d"}', { change: 'without-label', name: 'c' }), '{a="b"}');
  t.is(
    mend(query, { change: 'rename', of: 'row', name: 'z', value: 'y' }),
    '{a="b", c="d"} |= "x" | json | ( y>1 or y="2" )',
  );
  t.is(mend('{a="b"}', { change: 'rename', of: 'stream', name: 'a', value: 'app' }), '{app="b"}');
});

test('a query is told as the steps by which it leaves lines out', (t) => {
  const query = '{a="b", c=~"d"} |= "x" | json | y > 1 or z="2"';
  const { selector, labels, stages } = narrowingOf(new Map([['query', [query]]]), 'reject');
  t.is(selector, '{a="b", c=~"d"}');
  t.deepEqual(labels, [
    { name: 'a', op: '=', value: 'b', others: '{c=~"d"}' },
    { name: 'c', op: '=~', value: 'd', others: '{a="b"}' },
  ]);
  t.deepEqual(
    stages.map(({ kind, before, reads }) => [kind, before, reads]),
    [
      ['line-filter', '{a="b", c=~"d"}', []],
      ['other', '{a="b", c=~"d"} |= "x"', []],
      ['label-filter', '{a="b", c=~"d"} |= "x" | json', ['y', 'z']],
    ],
  );
  t.throws(() => narrowingOf(new Map([['query', ['rate({a="b"}[1m])']]]), 'reject'));
});
