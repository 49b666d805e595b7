import test from 'ava';
import { definitionsOf, FlagIndex, type OptionSchema } from '../../../../core/kernel/options/index.js';

const size: OptionSchema = {
  properties: {
    bytes: { type: 'integer', default: 5, 'x-flag': 'cache-bytes' },
    later: { type: 'integer', 'x-flag': 'cache-later', 'x-unread': true },
    old: { type: 'integer', 'x-flag': 'cache-old', 'x-deprecated': 'it has no effect' },
  },
};
const sharer: OptionSchema = {
  properties: { bytes: { type: 'integer', default: 5, 'x-shares': 'cache-bytes' } },
};
const index = new FlagIndex([...definitionsOf('store', size), ...definitionsOf('front', sharer)]);

test('two options cannot declare one flag', (t) => {
  t.throws(() => new FlagIndex([...definitionsOf('a', size), ...definitionsOf('b', size)]), {
    message: 'flag -cache-bytes is declared by "a" and by "b"',
  });
});

test('a flag can be shared only by an option of the same type and default', (t) => {
  const other: OptionSchema = {
    properties: { bytes: { type: 'integer', default: 6, 'x-shares': 'cache-bytes' } },
  };
  const orphan: OptionSchema = { properties: { bytes: { type: 'integer', 'x-shares': 'nowhere' } } };
  const store = definitionsOf('store', size);
  t.throws(() => new FlagIndex([...store, ...definitionsOf('front', other)]), { message: /front\.bytes/ });
  t.throws(() => new FlagIndex([...store, ...definitionsOf('front', orphan)]), { message: /nowhere/ });
});

test('a flag without its plugin is reported, unless another present plugin shares it', (t) => {
  t.deepEqual(index.unusedWarnings(['cache-bytes'], new Set(['other'])), [
    'flag -cache-bytes has no effect: the pipeline has no "store" or "front"',
  ]);
  t.deepEqual(index.unusedWarnings(['cache-bytes'], new Set(['front'])), []);
});

test('a deprecated flag is reported with what to know', (t) => {
  t.deepEqual(index.deprecatedWarnings(['cache-bytes', 'cache-old']), [
    'flag -cache-old is deprecated: it has no effect',
  ]);
});

test('a flag that no code reads yet is reported where its plugin is present', (t) => {
  t.deepEqual(index.unreadWarnings(['cache-bytes', 'cache-later', 'cache-old'], new Set(['store'])), [
    'flag -cache-later has no effect yet: this version only checks its value',
  ]);
  t.deepEqual(index.unreadWarnings(['cache-later'], new Set(['other'])), []);
});
