/**
 * Loaded by ava ahead of each test file: what tests make up by chance is the same in each run. `TEST_SEED=7` takes other chances,
 * `TEST_SEED=random` new ones in each file; both are told, so that a run can be had again.
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
