import type { Logger } from '../base/logger.js';
import { formatFindings, readSources } from '../kernel/check/index.js';
import type { Finding } from '../kernel/pipeline/index.js';
import { placeText } from '../kernel/pipeline/located.js';
import type { ReloadFinding } from '../kernel/plugin/host.js';
import { showsColor, type Io } from './io.js';

/** Prints the findings about a pipeline file, as the checker does. */
export async function printFindings(findings: readonly Finding[], io: Io): Promise<void> {
  if (findings.length === 0) return;
  const hasColor = showsColor(io);
  io.err(await formatFindings(findings, 'text', await readSources(findings), { hasColor }));
}

/** Logs the warnings about a pipeline file that is served despite them, one record each. */
export function logFindings(findings: readonly Finding[], log: Logger): void {
  for (const { at, rule, message, fix } of findings)
    log.warn(message, {
      'pipeline.rule': rule,
      'pipeline.place': placeText(at),
      'pipeline.fix': fix,
    });
}

export function findingOf({ at, ...finding }: Finding): ReloadFinding {
  return { at: placeText(at), ...finding };
}

export function findingLine({ at, severity, message, rule, fix }: ReloadFinding): string {
  return `${at}: ${severity}${rule === undefined ? '' : ` ${rule}`}: ${message}${fix === undefined ? '' : ` (${fix})`}`;
}
