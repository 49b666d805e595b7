/**
 * `npm run faults`: damages every call of every question in every way, then at random. `--share=1/2` runs one half of the sweep.
 * `BACKEND_URL` names a backend to use instead of the embedded one.
 */
import { remembering } from '../conformance/remembering.js';
import { openStore } from '../conformance/target.js';
import { readArguments } from '../watch/arguments.js';
import { readSlowly } from './slow-readers.js';
import { sweep, wander, type Report, type Share } from './sweep.js';

const options = readArguments(process.argv.slice(2), [
  'calls',
  'seed',
  'only',
  'way',
  'random-only',
  'rounds',
  'share',
]);
const seed = options.number('seed', 1);
const store = await remembering(await openStore(process.env['BACKEND_URL'], true));
let offences = 0;
try {
  const filter = { question: options.text('only', ''), way: options.text('way', '') };
  if (!options.flag('random-only'))
    print(
      'sweep',
      await sweep(store.url, { seed, share: shareOf(options.text('share', '1/1')) }, filter, console.log),
    );
  if (filter.question === '' && filter.way === '') {
    const slow = await readSlowly(options.number('rounds', 50));
    for (const offence of slow) console.log(offence);
    console.log(`slow readers: ${slow.length} offences`);
    offences += slow.length;
  }
  const calls = options.number('calls', 0);
  if (calls > 0) print(`random, seed ${seed}`, await wander(store.url, { seed, calls }, filter, console.log));
} finally {
  await store.close();
}
process.exitCode = offences === 0 ? 0 : 1;

function shareOf(text: string): Share {
  const [, number, of] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const share = { number: Number(number), of: Number(of) };
  if (!(share.number >= 1 && share.number <= share.of)) throw new Error(`--share is a part as 1/2: ${text}`);
  return share;
}

function print(name: string, report: Report): void {
  console.log(`${name}: ${report.damaged} calls damaged, ${report.offences.length} offences`);
  offences += report.offences.length;
}
