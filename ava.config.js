import { availableParallelism } from 'node:os';
import { isSlow, roomsOf, testsOfRun } from './dist/test/setup/rooms.js';

const named = process.argv
  .slice(2)
  .some((argument) => argument.includes('/') && !argument.includes('/rooms/'));

/** `npm run test:fast` names what the work tree is compared with. */
const reference = process.env['TEST_FAST'];

async function files() {
  if (named) return ['dist/test/**/*.test.js', '!dist/test/rooms/**'];
  if (reference === undefined) return roomsOf('.', testsOfRun('.', process.env['TEST_DEEP'] === '1'));
  // It loads the compiler, which other runs do without.
  const { readChange, testsNear } = await import('./dist/test/setup/fast.js');
  return roomsOf('.', testsNear(readChange('.', reference, isSlow)));
}

/** `npx ava dist/test/core/logql` runs each file of that folder in a process of its own; `npx ava` lets files share one. */
export default {
  files: await files(),
  // The longest rooms are numbered first.
  sortTestFiles: (a, b) => (a < b ? -1 : 1),
  require: ['./dist/test/setup/seed.js'],
  timeout: '5m',
  workerThreads: false,
  // One more than processors of a small machine: some files wait more than they work.
  concurrency: Math.max(3, availableParallelism()),
  // A small nursery makes the collector copy what dies a moment later: a tenth of all time.
  nodeArguments: ['--max-semi-space-size=64'],
};
