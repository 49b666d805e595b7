/** `npm run hostile`: queries made to hurt, each against a running program with others beside it. */
import { readArguments } from '../watch/arguments.js';
import { hostileCases } from './cases.js';
import { HurtRunner, type Hurt } from './hurt.js';

const options = readArguments(process.argv.slice(2), [
  'only',
  'rows',
  'heap',
  'turn',
  'budget',
  'patience',
  'flags',
]);
const heap = options.number('heap', 0);
const flags = options.text('flags', '');
const runner = new HurtRunner({
  flags: flags === '' ? [] : flags.split(' '),
  node: heap === 0 ? [] : [`--max-old-space-size=${heap}`],
  manyRows: options.number('rows', 100_000),
  maxTurnMs: options.number('turn', 50),
  budgetMiB: options.number('budget', 256),
  patienceMs: options.number('patience', 60) * 1_000,
});
const only = options.text('only', '');
const hurts: Hurt[] = [];
try {
  for (const hostile of hostileCases.filter(({ name }) => name.includes(only))) {
    const hurt = await runner.run(hostile);
    hurts.push(hurt);
    console.log(lineOf(hurt));
  }
} finally {
  await runner.close();
}
const offending = hurts.filter(({ offences }) => offences.length > 0);
console.log(`${hurts.length} queries, ${offending.length} that hurt`);
process.exitCode = offending.length === 0 ? 0 : 1;

function lineOf({ name, status, ms, longestTurnMs, grownMiB, neighbours, offences }: Hurt): string {
  const figures = `${status} in ${ms.toFixed(0)} ms, longest turn ${longestTurnMs.toFixed(0)} ms, ${grownMiB.toFixed(0)} MiB, others up to ${neighbours.slowestMs.toFixed(0)} ms`;
  return `${offences.length === 0 ? 'ok  ' : 'HURT'} ${name}: ${figures}${offences.map((offence) => `\n       ${offence}`).join('')}`;
}
