import test from 'ava';
import fc from 'fast-check';

import { flattenLine } from '../../../../plugins/embedded-backend/ingest/json-flatten.js';

const flat = (text: string): unknown => {
  const fields = flattenLine(text);
  return fields === undefined ? undefined : Object.fromEntries(fields);
};

test('nested objects become dotted names, arrays their compact text, and null and empty values vanish', (t) => {
  t.deepEqual(flat('{"a": 1, "b": {"c": "x", "d": [], "e": {}}, "n": null, "t": true, "s": ""}'), {
    a: '1',
    'b.c': 'x',
    'b.d': '[]',
    t: 'true',
  });
  t.deepEqual(flat('{"n": [1, "a", {"b": 2, "c": null}]}'), { n: '[1,"a",{"b":2,"c":null}]' });
});

test('numbers keep their digits, except for zeros that end a fraction', (t) => {
  t.deepEqual(
    flat('{"big": 12345678901234567890, "f": 10.0, "g": 1.50, "s": "1.50", "e": 1e3, "l": [1.50]}'),
    {
      big: '12345678901234567890',
      f: '10',
      g: '1.5',
      s: '1.50',
      e: '1e3',
      l: '[1.50]',
    },
  );
});

test('of equal names the last one wins', (t) => {
  t.deepEqual(flat('{"k": "1", "k": "2"}'), { k: '2' });
  t.deepEqual(flat('{"k": 1, "k": 2}'), { k: '2' });
});

test('text that is not one JSON object is refused', (t) => {
  for (const text of ['', '[]', '"x"', '12', '{"a":1} x', '{"a":', `${'{"a":'.repeat(200_000)}1`])
    t.is(flat(text), undefined);
});

test('escapes in names and values are undone', (t) => {
  t.deepEqual(flat('{"a\\u0020b": {"\\"": "\\u00e9\\n"}, "n": 1}'), { 'a b."': 'é\n', n: '1' });
});

test('an object of texts becomes fields with these names and texts', (t) => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string({ minLength: 1 })), (object) => {
      t.deepEqual(flattenLine(JSON.stringify(object)), new Map(Object.entries(object)));
    }),
  );
});

test('a string of 30 million characters is read', (t) => {
  const text = 'x'.repeat(30_000_000);
  t.is(flattenLine(JSON.stringify({ a: text }))?.get('a')?.length, text.length);
  t.is(flattenLine(JSON.stringify({ a: [text] }))?.get('a')?.length, text.length + 4);
});

test('strings in arrays keep only the escapes that they need', (t) => {
  t.deepEqual(flat('{"l": ["\\u00e9\\u003c", {"\\u0061": "\\""}]}'), { l: '["é<",{"a":"\\""}]' });
});
