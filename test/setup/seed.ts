/**
 * Loaded by ava before each test file: seeds the random test data, so that each run is the same. `TEST_SEED=7` sets another seed,
 * `TEST_SEED=random` a new one for each file; both are printed, so that a run can be repeated.
 */
import fc from 'fast-check';

const fixed = 20_261_122;
const wanted = process.env['TEST_SEED'];
const seed = seedOf(wanted);
if (wanted !== undefined) console.log(`TEST_SEED=${seed}`);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

function seedOf(text: string | undefined): number {
  if (text === undefined) return fixed;
  if (text === 'random') return Math.floor(Math.random() * 2 ** 31);
  const number = Number(text);
  if (!Number.isInteger(number)) throw new Error(`TEST_SEED is neither a whole number nor "random": ${text}`);
  return number;
}
