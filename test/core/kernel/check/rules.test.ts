import test from 'ava';
import { describedRules } from '../../../../core/kernel/check/described-rules.js';
import { checkText, places } from './fake-built-ins.js';
import { invalid, valid } from './rule-cases-table.js';

for (const { title, text, ...options } of valid) {
  test(`nothing is found in: ${title}`, async (t) => {
    t.deepEqual(await checkText(text, options), []);
  });
}

for (const { title, text, finds, says, ...options } of invalid) {
  test(`found: ${title}`, async (t) => {
    const findings = await checkText(text, options);
    // The set of options that are read changes between versions; cases about it have R054 in their title.
    const told = findings.filter(({ rule }) => rule !== 'R054' || title.startsWith('R054'));
    t.deepEqual(places(told), finds);
    const [first] = findings;
    if (says !== undefined)
      t.true(`${first?.message ?? ''} ${first?.fix ?? ''}`.includes(says), JSON.stringify(first));
  });
}

test('every rule about the text has a case that breaks it', async (t) => {
  const tried = new Set(invalid.flatMap(({ finds }) => finds.map((found) => found.slice(0, 4))));
  // Tested in load-plugin.test.ts, missing-option.test.ts and agreement, with plugins of their own.
  const elsewhere = new Set(['R009', 'R021', 'R037']);
  for (const { id, tier } of await describedRules())
    t.true(
      tier === 'environment' || tried.has(id) || elsewhere.has(id),
      `${id} has no case in rule-cases-table.ts; rules of plugins are named in fake-built-ins.ts`,
    );
});

test('rules have ids of their own, in order', async (t) => {
  const ids = (await describedRules()).map(({ id }) => id);
  t.deepEqual(ids, [...new Set(ids)].sort());
});
