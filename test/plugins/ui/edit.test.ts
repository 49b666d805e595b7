import test from 'ava';
import fc from 'fast-check';
import { parseQuery } from '../../../core/logql/index.js';
import { ApiError } from '../../../core/plugin/index.js';
import { editQuery } from '../../../plugins/ui/edit.js';
import { anyCharacter } from '../../setup/text.js';

const edit = (params: Readonly<Record<string, string | readonly string[]>>): string =>
  editQuery(new Map(Object.entries(params).map(([name, value]) => [name, [value].flat()])), 'reject');

test('a label of streams goes into the selector, once, and takes the place of what it contradicts', (t) => {
  const keep = { change: 'keep', of: 'stream', name: 'app', value: 'shop' };
  t.is(edit({ query: '', ...keep }), '{app="shop"}');
  t.is(edit({ query: '{env="prod"} |= "x"', ...keep }), '{env="prod", app="shop"} |= "x"');
  t.is(edit({ query: '{app="shop"}', ...keep }), '{app="shop"}');
  t.is(edit({ query: '{app="cart"}', ...keep }), '{app="shop"}');
  t.is(edit({ query: '{env="prod", app!="shop"}', ...keep }), '{env="prod", app="shop"}');
  t.is(edit({ query: '{app=~"s.*"}', ...keep, change: 'drop' }), '{app=~"s.*", app!="shop"}');
  t.is(
    edit({ query: 'sum(rate({env="prod"}[5m])) / sum(rate({env="dev"}[5m]))', ...keep }),
    '(sum(rate({env="prod", app="shop"}[5m])) / sum(rate({env="dev", app="shop"}[5m])))',
  );
});

test('a label of rows is filtered at the end, where all labels are known', (t) => {
  const keep = { change: 'keep', of: 'row', name: 'status', value: '500' };
  t.is(edit({ query: '{app="shop"} | json', ...keep }), '{app="shop"} | json | status="500"');
  t.is(
    edit({ query: '{app="shop"} | json | status="500"', ...keep, change: 'drop' }),
    '{app="shop"} | json | status!="500"',
  );
  t.is(edit({ query: '{app="shop"} | json | status="500"', ...keep }), '{app="shop"} | json | status="500"');
});

test('a label that no stage makes yet brings its parser, once', (t) => {
  const keep = { change: 'keep', of: 'row', name: 'user_id', value: '7', parser: 'json' };
  t.is(edit({ query: '{app="shop"} |= "x"', ...keep }), '{app="shop"} |= "x" | json | user_id="7"');
  t.is(edit({ query: '{app="shop"} | json', ...keep }), '{app="shop"} | json | user_id="7"');
  t.is(
    edit({ query: '{app="shop"} | json a="b"', ...keep, change: 'drop' }),
    '{app="shop"} | json a="b" | json | user_id!="7"',
  );
  t.is(
    edit({ query: 'sum(rate({app="shop"}[5m]))', ...keep, parser: 'logfmt' }),
    'sum(rate({app="shop"} | logfmt | user_id="7"[5m]))',
  );
  t.throws(() => edit({ query: '{app="shop"}', ...keep, parser: 'xml' }), { instanceOf: ApiError });
});

test('a text is looked for before the line may have changed', (t) => {
  const line = { change: 'line-keep', value: 'time|out' };
  t.is(
    edit({ query: '{app="shop"} |= "a" | json | line_format "{{.x}}"', ...line }),
    '{app="shop"} |= "a" |= "time|out" | json | line_format "{{.x}}"',
  );
});

test('several values of a label become one matcher of literal alternatives, and the last one leaves no selector', (t) => {
  const choose = { change: 'choose', of: 'stream', name: 'app' };
  t.is(edit({ query: '', ...choose, value: ['a'] }), '{app="a"}');
  t.is(
    edit({ query: '{app="a", env="prod"}', ...choose, value: ['a', 'b.c|d'] }),
    '{app=~"a|b\\\\.c\\\\|d", env="prod"}',
  );
  t.is(
    edit({ query: '{env="prod", app=~"a|b", app!="b"} |= "x"', ...choose, value: ['b'] }),
    '{env="prod", app="b"} |= "x"',
  );
  t.is(edit({ query: '{app=~"a|b", env="prod"}', ...choose, value: [] }), '{env="prod"}');
  t.is(edit({ query: '{app="a"}', ...choose, value: [] }), '');
  t.is(edit({ query: '{app="a"} | json', ...choose, value: [] }), '{app=~".+"} | json');
  t.is(edit({ query: '{app="a", env!="x"}', ...choose, value: [] }), '{env!="x", app=~".+"}');
  t.is(edit({ query: 'rate({app="a"}[5m])', ...choose, value: [] }), 'rate({app=~".+"}[5m])');
  t.throws(
    () => edit({ query: '{a="b"}', ...choose, value: Array.from({ length: 201 }, (_, at) => String(at)) }),
    {
      instanceOf: ApiError,
    },
  );
});

test('a field brings the parser that finds it, where the query has none', (t) => {
  const keep = { change: 'keep', of: 'row', name: 'status', value: '500' };
  const json = { ...keep, parser: ['json'] };
  t.is(edit({ query: '{app="shop"} |= "x"', ...json }), '{app="shop"} |= "x" | json | status="500"');
  t.is(edit({ query: '{app="shop"} | json', ...json }), '{app="shop"} | json | status="500"');
  t.is(
    edit({ query: '{app="shop"} | json a="b"', ...json }),
    '{app="shop"} | json a="b" | json | status="500"',
  );
  t.is(
    edit({ query: '{app="shop"}', ...keep, parser: ['logfmt', 'json'] }),
    '{app="shop"} | json | logfmt | drop __error__,__error_details__ | status="500"',
  );
  t.is(
    edit({ query: 'sum(rate({app="shop"}[5m]))', ...json, change: 'drop' }),
    'sum(rate({app="shop"} | json | status!="500"[5m]))',
  );
  t.is(
    edit({ query: '{app="shop"}', ...keep, name: 'level', value: ['critical', 'fatal'], change: 'drop' }),
    '{app="shop"} | level!~"critical|fatal"',
  );
});

test('a pattern is kept or dropped as a line filter, which takes the place of its opposite', (t) => {
  const query = '{app="shop"} | json';
  const kept = edit({ query, change: 'pattern-keep', value: 'took <_> ms' });
  t.is(kept, '{app="shop"} |> "took <_> ms" | json');
  t.is(
    edit({ query: kept, change: 'pattern-drop', value: 'took <_> ms' }),
    '{app="shop"} !> "took <_> ms" | json',
  );
});

test('a query over several lines stays laid out', (t) => {
  const query = '{app="shop"}\n  | json';
  t.is(edit({ query, change: 'keep', of: 'row', name: 'a', value: 'b' }), '{app="shop"} | json | a="b"');
});

test('the stream of a line is selected by all its labels', (t) => {
  t.is(edit({ change: 'streams', labels: '{"app":"shop","pod":"a\\"b"}' }), '{app="shop", pod="a\\"b"}');
  for (const labels of ['', '[]', '{"a":1}', 'null'])
    t.throws(() => edit({ change: 'streams', labels }), { instanceOf: ApiError }, labels);
});

test('whatever a value is, the changed query asks for it', (t) => {
  const change = fc.constantFrom('keep', 'drop');
  fc.assert(
    fc.property(
      fc.string({ unit: anyCharacter }),
      change,
      fc.constantFrom('stream', 'row'),
      (value, kind, of) => {
        const ast = parseQuery(
          edit({ query: '{env="prod"} | logfmt', change: kind, of, name: 'app', value }),
        );
        if (ast.kind !== 'log') return false;
        const last = ast.stages.at(-1);
        const made =
          of === 'stream'
            ? ast.selector.matchers.at(-1)
            : last?.kind === 'label-filter' && last.filter.kind === 'string'
              ? last.filter
              : undefined;
        return made?.name === 'app' && made.value === value && made.op === (kind === 'keep' ? '=' : '!=');
      },
    ),
    { endOnFailure: true },
  );
  t.pass();
});
