#!/usr/bin/env node
import { processIo } from './io.js';
import { runProgram } from './program.js';

// The status is set rather than exited with, so that what is still being written gets out.
process.exitCode = await runProgram(process.argv.slice(2), processIo());
