/** A short `npm run fuzz`, with the same code; only the long run checks times. */
import test from 'ava';
import { Fuzzer } from './fuzz.js';
import { openPair } from './pair.js';
import { fuzzPipelines } from './pipelines.js';

const seed = 1;

test.serial('no request ends the program, gets an error that is not explained, or stays open', async (t) => {
  const told: string[] = [];
  const pair = await openPair();
  try {
    const settings = { seed, requests: 160, from: 0, rawShare: 0.1, lieShare: 0, maxTurnMs: Infinity };
    const { sent, offences } = await new Fuzzer(pair, settings, (text) => told.push(text)).run();
    t.deepEqual(told, []);
    t.is(offences.length, 0);
    t.is(sent, 160);
  } finally {
    await pair.close();
  }
});

test.serial('findings of broken pipeline files stand in the file', async (t) => {
  const told: string[] = [];
  t.is(await fuzzPipelines(seed, 60, (text) => told.push(text)), 0, told.join('\n'));
});
