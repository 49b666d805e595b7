#!/usr/bin/env node
import { processIo } from './io.js';
import { runProgram } from './program.js';

// Every write has its own account of what went wrong; a stream that fails, of a full disk or nobody who reads, must not end a proxy.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

// The status is set rather than exited with, so that what is still being written gets out.
const status = await runProgram(process.argv.slice(2), processIo());
process.exitCode ||= status;
