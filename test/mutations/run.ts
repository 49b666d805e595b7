/**
 * `npm run mutations`: pipeline files with one mistake each, and with harmless changes, as the checker sees them, and whether the start agrees with it on
 * the first `--start` of them (2,000 unless given).
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
