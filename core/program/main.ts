#!/usr/bin/env node
import { lowerHelperThreads } from './helper-threads.js';
import { processIo } from './io.js';
import { runProgram } from './program.js';

lowerHelperThreads();

// Every write handles its own error. A failing stream (full disk, no reader) must not end the proxy.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

// Sets the exit status instead of exiting, so that pending writes finish.
const status = await runProgram(process.argv.slice(2), processIo());
process.exitCode ||= status;
