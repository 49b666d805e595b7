import test from 'ava';
import fc from 'fast-check';
import { type Label, LabelSet } from '../../../core/base/label-set.js';

const names = fc.constantFrom('a', 'b', 'app', 'service_name', '__proto__', 'é', '😀', '');
const label: fc.Arbitrary<Label> = fc.tuple(names, fc.string());
const unique: fc.Arbitrary<Label> = fc.tuple(fc.string({ maxLength: 3 }), fc.string());

function sortedByMap(labels: readonly Label[]): readonly Label[] {
  return [...new Map(labels)].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

test('labels in any order make a sorted set in which the last value of a name wins', (t) => {
  fc.assert(
    fc.property(fc.array(fc.oneof(label, unique), { maxLength: 60 }), (labels) => {
      t.deepEqual(LabelSet.from(labels).labels, sortedByMap(labels));
    }),
  );
});

test('a set is made of what is read once only', (t) => {
  const many = Array.from({ length: 100 }, (_label, index): Label => [`n${(index * 7) % 50}`, `${index}`]);
  t.deepEqual(LabelSet.from(many.values()).labels, sortedByMap(many));
});

test('making a set leaves the labels it was given as they were', (t) => {
  const given: Label[] = [
    ['b', '1'],
    ['a', '2'],
    ['b', '3'],
  ];
  LabelSet.from(given);
  t.deepEqual(given, [
    ['b', '1'],
    ['a', '2'],
    ['b', '3'],
  ]);
});

test('labels are laid over others and taken away by name', (t) => {
  const set = LabelSet.from([
    ['a', '1'],
    ['c', '3'],
  ]);
  t.is(
    set.with([
      ['b', '2'],
      ['c', '4'],
    ]).json,
    '{"a":"1","b":"2","c":"4"}',
  );
  t.is(set.without(new Set(['a', 'x'])).json, '{"c":"3"}');
  t.is(set.without(new Set(['a', 'c'])), LabelSet.empty);
});

test('names that begin with a digit keep their place in JSON', (t) => {
  const set = LabelSet.from([
    ['10', 'a'],
    ['9', 'b'],
    ['_', 'c'],
  ]);
  t.is(set.json, '{"10":"a","9":"b","_":"c"}');
});
