import test from 'ava';
import fc from 'fast-check';
import { doAll } from '../../../../core/base/pace/steps.js';
import { addNames, inLabelOrder } from '../../../../core/wire/answer/encode-streams.js';
import { LabelSet } from '../../../../core/base/label-set.js';

const labels = fc
  .dictionary(
    fc.constantFrom('a', 'ab', 'abc', 'b', 'b1', 'c'),
    fc.string({ unit: fc.constantFrom('a', '=', '"', ':', '1') }),
    {
      minKeys: 1,
    },
  )
  .map((values) => LabelSet.from(Object.entries(values)));

/** The text that Loki makes of the labels. */
function referenceText({ labels: all }: LabelSet): string {
  return `{${all.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(', ')}}`;
}

test('streams stand in the order of the texts that Loki makes of their labels', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(labels, { selector: ({ key }) => key, maxLength: 8 }), (sets) => {
      const names = new Set<string>();
      for (const set of sets) doAll(addNames(names, set));
      const ordered = doAll(
        inLabelOrder(
          sets.map((set) => ({ json: set.json, text: referenceText(set) })),
          names,
        ),
      );
      t.deepEqual(
        ordered.map(({ text }) => text),
        sets.map(referenceText).sort((a, b) => (a < b ? -1 : 1)),
      );
    }),
  );
});

test('the names of a line with very many labels are gathered in steps', (t) => {
  const many = LabelSet.from(
    Array.from({ length: 60_000 }, (_, at): [string, string] => [`name${at}`, 'value']),
  );
  const names = new Set<string>();
  t.true([...addNames(names, many)].length > 30);
  t.is(names.size, 60_000);
});
