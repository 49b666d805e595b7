import test from 'ava';
import fc from 'fast-check';
import {
  escapeText,
  inOrder,
  keyOf,
  type KeyParts,
  leftOut,
  scalar,
  text,
} from '../../../core/base/key-parts.js';
import { anyCharacter } from '../../setup/text.js';

// Texts that resemble parts of keys, to provoke confusion between parts.
const texts = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'b', ':', '.', '&', '=', '%', ',', '(', ')', '*', '|', '2', 'u', '\u00e9'),
    maxLength: 6,
  }),
  fc.string({ unit: anyCharacter, maxLength: 4 }),
);

test('no two texts are escaped to the same, and what is escaped cannot be taken for a separator', (t) => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      t.is(escapeText(a) === escapeText(b), a === b);
      t.regex(escapeText(a), /^[A-Za-z0-9_%-]*$/);
    }),
    { numRuns: 2000 },
  );
});

interface Fields {
  readonly name: string;
  readonly count?: number;
  readonly query?: { readonly text: string };
  readonly list: readonly string[];
  readonly within: { readonly search?: string; readonly isOpen: boolean };
  readonly ignored: string;
}

const parts: KeyParts<Fields> = {
  name: scalar,
  count: scalar,
  query: text,
  list: inOrder,
  within: { search: scalar, isOpen: scalar },
  ignored: leftOut('it says nothing'),
};

const fields: fc.Arbitrary<Fields> = fc.record(
  {
    name: texts,
    count: fc.nat(1),
    query: fc.record({ text: texts }),
    list: fc.array(texts, { maxLength: 2 }),
    within: fc.record({ search: texts, isOpen: fc.boolean() }, { requiredKeys: ['isOpen'] }),
    ignored: texts,
  },
  { requiredKeys: ['name', 'list', 'within', 'ignored'] },
);

/** Pairs of objects that differ in one field at most, so that most pairs are similar. */
const pairs = fc
  .tuple(fields, fields, fc.constantFrom(...(Object.keys(parts) as (keyof Fields)[])))
  .map(([a, b, name]) => [a, { ...a, [name]: b[name] }] as const);

test('two objects have the same key exactly when the fields that are written are equal', (t) => {
  const written = ({ name, count, query, list, within }: Fields) =>
    JSON.stringify([name, count ?? null, query ?? null, list, within.search ?? null, within.isOpen]);
  fc.assert(
    fc.property(pairs, ([a, b]) => t.is(keyOf(parts, a) === keyOf(parts, b), written(a) === written(b))),
    { numRuns: 2000 },
  );
});

test('a key names its fields', (t) => {
  const made: Fields = {
    name: 'a b',
    query: { text: '{a="b"}' },
    list: ['x', ''],
    within: { isOpen: true },
    ignored: 'z',
  };
  t.is(keyOf(parts, made), 'name=a%20b&query=%7Ba%3D%22b%22%7D&list=x,,&within=(isOpen=true)');
});
