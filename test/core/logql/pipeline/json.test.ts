import test from 'ava';
import fc from 'fast-check';
import { extractorOf, objectOf, entryOf, parsedLabels, pipelineOf } from './run-query.js';

/** The label of a key in the object with this prefix; a blank key adds nothing. */
function nameOf(prefix: string, key: string): string {
  const cleaned = Array.from(key.trim(), (character) => (/^[A-Za-z0-9_]$/.test(character) ? character : '_'));
  const own = cleaned.join('');
  if (prefix !== '') return own === '' ? prefix : `${prefix}_${own}`;
  return /^[0-9]/.test(own) ? `_${own}` : own;
}

/** Expected labels of `| json`, computed with the platform's JSON parser. */
function flatten(text: string): Record<string, string> {
  const labels = new Map<string, string>();
  const walk = (value: unknown, prefix: string, isInner: boolean): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const name = nameOf(prefix, key);
      if (Array.isArray(inner) || inner === null) continue;
      if (typeof inner === 'object') walk(inner, name, true);
      else if (name === 'app') take(isInner ? nameOf(prefix, `${key}_extracted`) : 'app_extracted', inner);
      else if (name !== '' || isInner) take(name, inner);
    }
  };
  const take = (name: string, value: unknown): void => {
    if (!labels.has(name)) labels.set(name, String(value).replaceAll('\ufffd', ' '));
  };
  walk(JSON.parse(text), '', false);
  return Object.fromEntries([...labels].sort());
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const key = fc.oneof(fc.constantFrom('a', 'b', 'app', 'app_extracted', 'a.b', '9x', '', ' '), text);
const scalar = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
const { object } = fc.letrec<{ object: object; value: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(scalar, { maxLength: 3 }), tie('object')),
  object: fc.dictionary(key, tie('value'), { maxKeys: 6, noNullPrototype: true }),
}));
const layout = fc.constantFrom(undefined, 1, '\t');

test('json finds what the platform finds, for any object in any layout', (t) => {
  const pipeline = pipelineOf('| json');
  fc.assert(
    fc.property(object, layout, (value, indent) => {
      const line = JSON.stringify(value, null, indent);
      t.deepEqual(parsedLabels(pipeline, line), flatten(line));
    }),
    { numRuns: 1500 },
  );
});

test('a metric query finds the value of a field whether it takes all fields or only that one', (t) => {
  const all = extractorOf('count_over_time({app="shop"} | json [1m])');
  const one = extractorOf('sum by (a) (count_over_time({app="shop"} | json [1m]))');
  fc.assert(
    fc.property(object, (value) => {
      const entry = entryOf(JSON.stringify(value));
      t.is(one(entry)?.labels.get('a'), all(entry)?.labels.get('a'));
    }),
  );
});

test('a path finds what the platform finds under it', (t) => {
  const pipeline = pipelineOf('| json x="a.b", y="a.c[1]", z="d[0].e"');
  const part = fc.record(
    { b: scalar, c: fc.array(text, { maxLength: 3 }), other: fc.array(scalar) },
    { requiredKeys: [] },
  );
  const line = fc.record(
    { n: scalar, a: part, d: fc.array(fc.record({ k: text, e: text }), { maxLength: 2 }) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(line, (value) => {
      const clean = (found: string | number | boolean | null | undefined): string =>
        String(found ?? '').replaceAll('\ufffd', ' ');
      t.deepEqual(parsedLabels(pipeline, JSON.stringify(value)), {
        x: clean(value.a?.b),
        y: clean(value.a?.c?.[1]),
        z: clean(value.d?.[0]?.e),
      });
    }),
  );
});

test('labels in front of a fault stay, and the fault is told', (t) => {
  const pipeline = pipelineOf('| json');
  const cases: readonly (readonly [string, Record<string, string>, string])[] = [
    ['{"a":1,"b":{"c":2', { a: '1' }, "Value looks like object, but can't find closing '}' symbol"],
    ['{"a":{"b":1,"c":}}', { a_b: '1' }, 'Unknown value type'],
    ['{"a":1,"b":[1,2', { a: '1' }, "Value is array, but can't find closing ']' symbol"],
    ['{"a":tru}', {}, 'Unknown value type'],
    ['{"a":1 "b":2}', { a: '1' }, "Value looks like object, but can't find closing '}' symbol"],
    ['{"a":1,"b\\x":2}', { a: '1' }, 'Encountered an invalid escape sequence in a string'],
    ['{', {}, 'Malformed JSON error'],
  ];
  for (const [line, labels, fault] of cases) {
    const wanted = { ...labels, __error__: 'JSONParserErr', __error_details__: fault };
    t.deepEqual(parsedLabels(pipeline, line), wanted, line);
  }
});

test('a metric query does not read on when it has all it can see, and sees no fault behind it', (t) => {
  const extract = extractorOf('sum by (a) (count_over_time({app="shop"} | json [1m]))');
  const found = extract(entryOf('{"a":1,"b":'));
  t.is(found?.error, undefined);
  t.deepEqual(found && objectOf(found.labels), { a: '1' });
  const missed = extract(entryOf('{"b":1,"c":'));
  t.is(missed?.error, 'JSONParserErr');
});

test('values with wrong escapes are empty, halves of characters are spaces', (t) => {
  const pipeline = pipelineOf('| json');
  t.deepEqual(
    parsedLabels(pipeline, '{"a":"x\\qy","b":"\\ud83d","c":"\ufffd","d":"\\udc00\\udc00","e":"ok"}'),
    {
      a: '',
      b: '',
      c: ' ',
      d: ' ',
      e: 'ok',
    },
  );
});

test('backslashes are seen wherever they stand, inside of nested objects too', (t) => {
  const pipeline = pipelineOf('| json');
  const line = '{"a":{"b":"x\\"y","c":"z"},"d\\u0065":"\\\\","f":"g\\n"}';
  t.deepEqual(parsedLabels(pipeline, line), { a_b: 'x"y', a_c: 'z', de: '\\', f: 'g\n' });
});

test('nesting costs no stack', (t) => {
  const open = '{"a":'.repeat(40_000);
  const closed = `${open}1${'}'.repeat(40_000)}`;
  for (const stages of ['| json', '| json x="a.a"', '| unpack', '| json x="a[0]"']) {
    const pipeline = pipelineOf(stages);
    for (const line of [open, closed, '['.repeat(40_000), '{"a":['.repeat(20_000)]) {
      t.notThrows(() => pipeline(entryOf(line)));
    }
  }
});
