import test from 'ava';
import { definitionsOf, FlagIndex, type OptionSchema } from '../../../../core/kernel/options/index.js';

const size: OptionSchema = {
  properties: {
    bytes: { type: 'integer', default: 5, 'x-flag': 'cache-bytes' },
  },
};

test('two options cannot declare one flag', (t) => {
  t.throws(() => new FlagIndex([...definitionsOf('a', size), ...definitionsOf('b', size)]), {
    message: 'flag -cache-bytes is declared by "a" and by "b"',
  });
});

test('two flags cannot have one environment variable', (t) => {
  const other: OptionSchema = { properties: { size: { type: 'integer', 'x-flag': 'cache.bytes' } } };
  t.throws(() => new FlagIndex([...definitionsOf('a', size), ...definitionsOf('b', other)]), {
    message:
      'flags -cache-bytes and -cache.bytes would have the same environment variable, REF_PROXY_CACHE_BYTES',
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
