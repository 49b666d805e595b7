#!/usr/bin/env node
import { fitHeap } from './heap.js';
import { endOnEarlySignals } from './until-signal.js';

// Before anything else is loaded: a process that is asked to stop while loading has nothing to lose.
if (isServing(process.argv[2])) {
  endOnEarlySignals();
  fitHeap();
}

const { lowerHelperThreads } = await import('./helper-threads.js');
lowerHelperThreads();

// Every write handles its own error. A failing stream (full disk, no reader) must not end the proxy.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const [{ runProgram }, { processIo }] = await Promise.all([import('./program.js'), import('./io.js')]);
// Sets the exit status instead of exiting, so that pending writes finish.
const status = await runProgram(process.argv.slice(2), processIo());
process.exitCode ||= status;

/** True if a command runs until a signal ends it; flags without a command mean `serve`. */
function isServing(command = ''): boolean {
  return command.startsWith('-') || ['serve', 'demo', 'backend'].includes(command);
}
