import test from 'ava';

import { makeTags, streamId } from '../../../../plugins/embedded-backend/store/stream-tags.js';
import { xxHash64 } from '../../../../plugins/embedded-backend/store/xxhash.js';

test('xxHash64 gives the published sums for short and long input', (t) => {
  t.is(xxHash64(Buffer.from('')), 0xef46db3751d8e999n);
  t.is(xxHash64(Buffer.from('a')), 0xd24ec4f1a98c6e5bn);
  t.is(xxHash64(Buffer.from('abc')), 0x44bc2cf5ad770999n);
  t.is(xxHash64(Buffer.from('Nobody inspects the spammish repetition')), 0xfbcea83c8a378bf1n);
});

test('stream ids are those of the recorded server', (t) => {
  const tenant = { accountId: 0, projectId: 0 };
  t.is(streamId(tenant, makeTags([])), '0000000000000000e934a84adb05276890d7f7bfcadabe92');
  t.is(streamId(tenant, makeTags([['app', 'tick']])), '0000000000000000f9bd0accce21c08f26f7fb777034fc0b');
  t.is(
    streamId(
      tenant,
      makeTags([
        ['instance', 't-1'],
        ['app', 'tie'],
      ]),
    ).slice(0, 32),
    '00000000000000002d1fbdd0ee3aeefa',
  );
});
