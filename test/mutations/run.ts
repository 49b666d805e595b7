/** `npm run mutations`: pipeline files with one mistake each, and with harmless changes, as the checker sees them. */
import { readArguments } from '../watch/arguments.js';
import { measure } from './measure.js';

const options = readArguments(process.argv.slice(2), ['seed', 'files', 'show']);
const figures = await measure(options.number('seed', 1), options.number('files', 2_500));
for (const miss of figures.misses.slice(0, options.number('show', 20))) console.log(miss);
console.log(String(figures));
process.exitCode = figures.areGood ? 0 : 1;
