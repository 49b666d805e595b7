/** `npm run hostile`: sends intentionally expensive queries to a running program, with other requests in parallel. */
import { readArguments } from '../watch/arguments.js';
import { hostileGroups, type HostileCase } from './cases.js';
import { HurtRunner, type Hurt } from './hurt.js';

const options = readArguments(process.argv.slice(2), [
  'only',
  'group',
  'rows',
  'heap',
  'turn',
  'budget',
  'patience',
]);
const heap = options.number('heap', 0);
const [only, group] = [options.text('only', ''), options.text('group', '')];

/** Without the limits on series and rows, the memory budget must hold. */
const uncapped = ['-max-stats-query-series=10000000', '-manual-range-metric-row-limit=100000000'];

const profiles: readonly {
  readonly name: string;
  readonly cases: readonly HostileCase[];
  readonly flags: readonly string[];
}[] = [
  { name: 'long-lines', cases: hostileGroups.longLines, flags: [] },
  { name: 'many-lines', cases: hostileGroups.manyLines, flags: [] },
  { name: 'uncapped', cases: hostileGroups.manyLines, flags: uncapped },
];

let count = 0;
let hurting = 0;
for (const { name, cases, flags } of profiles.filter(({ name: each }) => each.includes(group))) {
  console.log(`-- ${name}`);
  const runner = new HurtRunner({
    flags,
    node: heap === 0 ? [] : [`--max-old-space-size=${heap}`],
    manyRows: options.number('rows', 100_000),
    maxTurnMs: options.number('turn', 50),
    budgetMiB: options.number('budget', 256),
    patienceMs: options.number('patience', 60) * 1_000,
  });
  try {
    for (const hostile of cases.filter((each) => each.name.includes(only))) {
      const hurt = await runner.run(hostile);
      count += 1;
      if (hurt.offences.length > 0) hurting += 1;
      console.log(lineOf(hurt));
    }
  } finally {
    await runner.close();
  }
}
console.log(`${count} queries, ${hurting} that hurt`);
process.exitCode = hurting === 0 ? 0 : 1;

function lineOf(hurt: Hurt): string {
  const { name, status, ms, longestTurnMs, grownMiB, residentGrownMiB, neighbours, offences } = hurt;
  const figures = [
    `${status} in ${ms.toFixed(0)} ms`,
    `longest turn ${longestTurnMs.toFixed(0)} ms`,
    `${grownMiB.toFixed(0)} MiB live`,
    `${residentGrownMiB.toFixed(0)} MiB resident`,
    `others up to ${neighbours.slowestMs.toFixed(0)} ms`,
  ];
  return `${offences.length === 0 ? 'ok  ' : 'HURT'} ${name}: ${figures.join(', ')}${offences.map((offence) => `\n       ${offence}`).join('')}`;
}
