import { builtInDefinitions, helpText } from '../kernel/options/index.js';
import type { Io } from './io.js';

/** Prints every flag with its default, environment variable and meaning. */
export async function flags(_args: readonly string[], io: Io): Promise<number> {
  io.out(`${await helpText(builtInDefinitions(), { usage: 'Flags of ref-proxy serve', own: [] })}\n`);
  return 0;
}
