import { availableParallelism } from 'node:os';
import { roomsOf } from './dist/test/setup/rooms.js';

const named = process.argv
  .slice(2)
  .some((argument) => argument.includes('/') && !argument.includes('/rooms/'));

/** `npx ava dist/test/core/logql` runs each file of that folder in a process of its own; `npx ava` lets files share one. */
export default {
  files: named ? ['dist/test/**/*.test.js', '!dist/test/rooms/**', 'examples/**/*.test.js'] : roomsOf('.'),
  // Rooms come last: the longest files are among those that have a process of their own.
  sortTestFiles: (a, b) => Number(a.includes('/rooms/')) - Number(b.includes('/rooms/')) || (a < b ? -1 : 1),
  require: ['./dist/test/setup/seed.js'],
  timeout: '5m',
  workerThreads: false,
  // One more than processors of a small machine: some files wait more than they work.
  concurrency: Math.max(3, availableParallelism()),
  // A small nursery makes the collector copy what dies a moment later: a tenth of all time.
  nodeArguments: ['--max-semi-space-size=32'],
};
