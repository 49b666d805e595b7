import { formatFindings, readSources } from '../kernel/check/index.js';
import type { Finding } from '../kernel/pipeline/index.js';
import type { Io } from './io.js';

/** Prints the findings about a pipeline file that could not be started, as the checker does. */
export async function printFindings(findings: readonly Finding[], io: Io): Promise<void> {
  if (findings.length === 0) return;
  const hasColor = io.isTerminal === true && (io.env['NO_COLOR'] ?? '') === '';
  io.err(formatFindings(findings, 'text', await readSources(findings), { hasColor }));
}
