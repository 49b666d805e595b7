#!/usr/bin/env node
import { processIo } from './io.js';
import { runProgram } from './program.js';

// Nobody reads any more: a proxy goes on without its log, and what was meant for `| head` is not missed.
for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe);

// The status is set rather than exited with, so that what is still being written gets out.
process.exitCode = await runProgram(process.argv.slice(2), processIo());

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
