/**
 * `npm run mutations`: runs the checker on pipeline files with one mistake each, and with harmless changes, and checks that the startup
 * agrees
 * with it on the first `--start` of them (default 2,000).
 */
import { readArguments } from '../watch/arguments.js';
import { agreement } from './agreement.js';
import { measure } from './measure.js';

const options = readArguments(process.argv.slice(2), ['seed', 'files', 'show', 'start']);
const [seed, shown] = [options.number('seed', 1), options.number('show', 20)];
const figures = await measure(seed, options.number('files', 2_500));
for (const miss of figures.misses.slice(0, shown)) console.log(miss);
console.log(String(figures));
const { started, refused, differences } = await agreement(seed, options.number('start', 2_000));
for (const difference of differences.slice(0, shown)) console.log(difference);
console.log(
  `check and start agree on ${started + refused - differences.length} of ${started + refused} files: ${started} started, ${refused} were refused`,
);
process.exitCode = figures.areGood && differences.length === 0 ? 0 : 1;
