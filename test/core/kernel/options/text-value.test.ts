import test from 'ava';
import fc from 'fast-check';
import { printText, readText, type ValueSchema } from '../../../../core/kernel/options/index.js';

const list: ValueSchema = { type: 'array', items: { type: 'string' } };
const lines: ValueSchema = { ...list, 'x-list': 'lines' };

/** A finite number that JSON can write; JSON has no negative zero. */
const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0));
const laws: readonly (readonly [string, ValueSchema, fc.Arbitrary<unknown>])[] = [
  ['boolean', { type: 'boolean' }, fc.boolean()],
  ['integer', { type: 'integer' }, fc.integer()],
  ['number', { type: 'number' }, numbers],
  ['string', { type: 'string' }, fc.string()],
  ['duration', { type: 'string', format: 'duration' }, fc.nat().map((n) => `${n}ms`)],
  ['list', list, fc.array(fc.string())],
  ['list of lines', lines, fc.array(fc.string())],
  ['object', { type: 'object' }, fc.dictionary(fc.string(), fc.jsonValue())],
  ['array', { type: 'array' }, fc.array(fc.jsonValue())],
];
for (const [name, schema, values] of laws) {
  test(`a printed ${name} reads as itself`, (t) => {
    fc.assert(
      fc.property(values, (value) => {
        const read = readText(schema, printText(schema, value));
        t.is(read.kind, 'value');
        // Compared as JSON, because the file contains JSON, which has only one zero.
        return read.kind === 'value' && JSON.stringify(read.value) === JSON.stringify(value);
      }),
    );
    t.pass();
  });
}

test('a list is split at commas, without blanks and empty items', (t) => {
  t.deepEqual(readText(list, ' a, b ,,c '), { kind: 'value', value: ['a', 'b', 'c'] });
  t.deepEqual(readText(list, ''), { kind: 'value', value: [] });
});

test('a list may be a JSON array', (t) => {
  t.deepEqual(readText(list, '["a,b","c"]'), { kind: 'value', value: ['a,b', 'c'] });
});

test('a list that only looks like JSON is split all the same', (t) => {
  t.deepEqual(readText(list, '[::1]:3100,b'), { kind: 'value', value: ['[::1]:3100', 'b'] });
});

test('a list of lines keeps commas', (t) => {
  t.deepEqual(readText(lines, 'a,<_> b\n\nc'), { kind: 'value', value: ['a,<_> b', 'c'] });
});

for (const word of ['1', 't', 'T', 'true', 'TRUE', 'True']) {
  test(`the word ${word} means true`, (t) => {
    t.deepEqual(readText({ type: 'boolean' }, word), { kind: 'value', value: true });
  });
}
for (const word of ['0', 'f', 'F', 'false', 'FALSE', 'False']) {
  test(`the word ${word} means false`, (t) => {
    t.deepEqual(readText({ type: 'boolean' }, word), { kind: 'value', value: false });
  });
}

const refused: readonly (readonly [string, ValueSchema, readonly string[]])[] = [
  ['boolean', { type: 'boolean' }, ['yes', '', 'tRUE']],
  ['integer', { type: 'integer' }, ['', 'a', '1.5', '1e3', '0x10', ' 1', '99999999999999999999']],
  ['number', { type: 'number' }, ['', 'a', 'NaN', 'Infinity', '1e999', '1,5', '.']],
  ['object', { type: 'object' }, ['', '{', "{'a':1}"]],
];
for (const [name, schema, texts] of refused) {
  for (const text of texts) {
    test(`${JSON.stringify(text)} is no ${name}`, (t) => t.is(readText(schema, text).kind, 'problem'));
  }
}
