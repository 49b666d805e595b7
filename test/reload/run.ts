/**
 * `npm run reload [-- --reloads=1000 --seed=1 --loops=4 --tails=50]`: reloads a proxy under load. Exits with 1 if a request failed, a tail
 * broke, a report was wrong, or objects of an earlier pipeline are still alive.
 */
import { readArguments } from '../watch/arguments.js';
import { reloadLoop } from './loop.js';
import { faultsOf } from './verdict.js';

const options = readArguments(process.argv.slice(2), ['reloads', 'seed', 'loops', 'tails']);
const figures = await reloadLoop({
  reloads: options.number('reloads', 1_000),
  seed: options.number('seed', 1),
  loops: options.number('loops', 4),
  tails: options.number('tails', 50),
});
const { failed, wrongReports, ...shown } = figures;
console.log(JSON.stringify({ ...shown, failed: failed.length, wrongReports: wrongReports.length }, null, 1));
for (const fault of faultsOf(figures)) console.log(fault);
process.exitCode = faultsOf(figures).length === 0 ? 0 : 1;
