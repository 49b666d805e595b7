/** A sample of the queries of `npm run hostile`, with the same code; only the long run checks times and memory. */
import test from 'ava';
import { hostileCases } from './cases.js';
import { HurtRunner } from './hurt.js';

const names = [
  'a selector of 100 KB',
  'parentheses 5,000 deep',
  'a filter of 2,000 alternatives',
  'a filter 400 deep',
  'series of many lines',
];

test.serial('queries made to hurt neither end the program nor make others fail', async (t) => {
  const runner = new HurtRunner({
    flags: [],
    node: [],
    manyRows: 2_000,
    maxTurnMs: Infinity,
    budgetMiB: Infinity,
    patienceMs: 30_000,
  });
  try {
    for (const name of names) {
      const hostile = hostileCases.find((each) => each.name === name);
      if (hostile === undefined) throw new Error(`no such query: ${name}`);
      t.deepEqual((await runner.run(hostile)).offences, [], name);
    }
  } finally {
    await runner.close();
  }
});
