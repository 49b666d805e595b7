import test from 'ava';
import fc from 'fast-check';

import { parsePushedLabels } from '../../../../plugins/embedded-backend/ingest/loki-labels.js';
import { quoteGo } from '../../../../core/base/label-set.js';

test('labels written with Go quoting are read back', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.stringMatching(/^[a-z_]{1,8}$/), fc.string({ unit: 'grapheme' }))),
      (pairs) => {
        const text = `{${pairs.map(([name, value]) => `${name}=${quoteGo(value)}`).join(', ')}}`;
        t.deepEqual(parsePushedLabels(text), pairs);
      },
    ),
  );
});

test('malformed label text is refused', (t) => {
  for (const text of ['', 'a="b"', '{a=b}', '{a="b"', '{a="b" c="d"}', '{="x"}', '{a="b}']) {
    t.throws(() => parsePushedLabels(text), undefined, text);
  }
});
