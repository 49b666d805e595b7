/**
 * `npm run overload [-- --minutes=10]`: a flood at twice the proxy's capacity, with idle connections, tails, slow readers and another
 * tenant.
 * `BACKEND_URL` names an empty backend to use instead of the embedded one. Exits with 1 if an aim of test/overload/report.ts is missed.
 */
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { overload } from './overload.js';
import { aims, table } from './report.js';

const { minutes, flag, seed, idle, tails, slow, rows, measure } = await yargs(hideBin(process.argv))
  .options({
    minutes: { type: 'number', default: 0.5, describe: 'how long the flood lasts' },
    seed: { type: 'number', default: 20_261_122 },
    idle: { type: 'number', default: 1_000, describe: 'idle connections' },
    tails: { type: 'number', default: 500, describe: 'open tails' },
    slow: { type: 'number', default: 100, describe: 'slow readers' },
    rows: { type: 'number', default: 60_000, describe: 'rows of the tenant that floods' },
    flag: { type: 'string', array: true, default: [], describe: 'more flags of the proxy' },
    measure: { type: 'number', default: 5, describe: 'seconds of each look at the capacity' },
  })
  .strict()
  .parseAsync();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(`seed ${seed}`);
const findings = await overload({
  floodSeconds: minutes * 60,
  measureSeconds: measure,
  settleSeconds: 10,
  rows,
  idle,
  tails,
  slow,
  seed,
  backendUrl: process.env['BACKEND_URL'],
  flags: flag,
  print,
});
print(table(findings));
process.exitCode = aims(findings).every(({ isMet }) => isMet) ? 0 : 1;
