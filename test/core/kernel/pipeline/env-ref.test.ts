import test from 'ava';
import { readEnvText, resolveReference, typeScalar } from '../../../../core/kernel/pipeline/locate-nodes.js';

const texts: readonly (readonly [text: string, read: ReturnType<typeof readEnvText>])[] = [
  ['plain', { kind: 'text', value: 'plain' }],
  ['$5', { kind: 'text', value: '$5' }],
  ['$${X}', { kind: 'text', value: '${X}' }],
  ['a$${b}c$${d}', { kind: 'text', value: 'a${b}c${d}' }],
  ['${X}', { kind: 'reference', name: 'X' }],
  ['${_a1}', { kind: 'reference', name: '_a1' }],
  ['${X:-}', { kind: 'reference', name: 'X', fallback: '' }],
  ['${X:-a:-b}', { kind: 'reference', name: 'X', fallback: 'a:-b' }],
  ['a${X}', { kind: 'bad', reason: 'part-of-value' }],
  ['${X}a', { kind: 'bad', reason: 'part-of-value' }],
  ['${X}${Y}', { kind: 'bad', reason: 'part-of-value' }],
  ['${X:-a}${Y:-b}', { kind: 'bad', reason: 'part-of-value' }],
  ['${X', { kind: 'bad', reason: 'part-of-value' }],
  ['${}', { kind: 'bad', reason: 'bad-name' }],
  ['${A B}', { kind: 'bad', reason: 'bad-name' }],
  ['${X:b}', { kind: 'bad', reason: 'part-of-value' }],
];

for (const [text, read] of texts) {
  test(`${text} is ${read.kind === 'bad' ? read.reason : read.kind}`, (t) =>
    t.deepEqual(readEnvText(text), read));
}

test('an unset or empty variable takes the default; without one an empty variable is empty text', (t) => {
  t.is(resolveReference({ name: 'X', fallback: 'd' }, {}), 'd');
  t.is(resolveReference({ name: 'X', fallback: 'd' }, { X: '' }), 'd');
  t.is(resolveReference({ name: 'X', fallback: 'd' }, { X: 'v' }), 'v');
  t.is(resolveReference({ name: 'X' }, { X: '' }), '');
  t.is(resolveReference({ name: 'X' }, {}), undefined);
});

test('what every object has is not a variable', (t) => {
  t.is(resolveReference({ name: 'constructor' }, {}), undefined);
});

const scalars: readonly (readonly [string, string | number | boolean | null])[] = [
  ['12', 12],
  ['-0.5', -0.5],
  ['1e3', 1000],
  ['0x1f', 31],
  ['0o17', 15],
  ['true', true],
  ['FALSE', false],
  ['null', null],
  ['', ''],
  ['yes', 'yes'],
  ['1.2.3', '1.2.3'],
  ['30s', '30s'],
  ['.', '.'],
];
for (const [text, value] of scalars) {
  test(`the bare text "${text}" is typed as YAML types it`, (t) => t.is(typeScalar(text), value));
}
