import type { Finding } from '../pipeline/index.js';
import type { Io } from './io.js';

/** Prints what is wrong with a pipeline file that was to be started: one line each, with the fix. */
export function printFindings(findings: readonly Finding[], io: Io): void {
  for (const { at, severity, rule, message, fix } of findings) {
    io.err(
      `${at.file}:${at.line}:${at.column}: ${severity} ${rule} ${message}${fix === undefined ? '' : `; ${fix}`}\n`,
    );
  }
}
