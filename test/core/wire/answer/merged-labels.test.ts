import test from 'ava';
import fc from 'fast-check';
import { doAll } from '../../../../core/base/pace/steps.js';
import { mergedLabelsSteps } from '../../../../core/wire/answer/encode-streams.js';
import { type Label, LabelSet } from '../../../../core/base/label-set.js';
import { anyCharacter } from '../../../setup/text.js';

const labels = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', 'b', 'c', 'é', '__proto__', 'x"', '10', '9'),
      fc.string({ unit: anyCharacter }),
    ),
  )
  .map((list) => LabelSet.from(list));

test('merging as text gives what merging the sets gives', (t) => {
  fc.assert(
    fc.property(labels, labels, labels, (base, metadata, parsed) => {
      const all: readonly Label[] = [...metadata.labels, ...parsed.labels];
      const shown = all.map(([name, value]): Label => [name, value.replaceAll('\ufffd', ' ')]);
      t.is(doAll(mergedLabelsSteps(base, metadata, parsed)), base.with(shown).json);
    }),
  );
});

test('a character that is no character is shown as a space', (t) => {
  const labels = doAll(
    mergedLabelsSteps(LabelSet.empty, LabelSet.empty, LabelSet.from([['a', 'x\ufffdy\ufffd']])),
  );
  t.is(labels, '{"a":"x y "}');
});

test('very many labels are merged in steps', (t) => {
  const many = LabelSet.from(Array.from({ length: 20_000 }, (_none, index): Label => [`k${index}`, 'v']));
  const base = LabelSet.from([['a', '1']]);
  const steps = mergedLabelsSteps(base, LabelSet.empty, many);
  let count = 0;
  for (;;) {
    const { done, value } = steps.next();
    count += 1;
    if (done !== true) continue;
    t.is(value, base.with(many.labels).json);
    t.true(count > 15);
    return;
  }
});
