import { freePort } from '../core/program/child.js';
import { checked, started, withSite } from '../core/kernel/agreement/site.js';
import { changedFile } from './made.js';

/** The agreement of the checker with the startup for changed files. */
export interface Agreement {
  readonly started: number;
  readonly refused: number;
  /** One text for each file with a disagreement. */
  readonly differences: readonly string[];
}

/** Checks changed files and starts each of them, whatever the checker's result. */
export async function agreement(seed: number, count: number): Promise<Agreement> {
  const counts = { started: 0, refused: 0 };
  const differences: string[] = [];
  const port = await freePort();
  for (let step = 0; step < count; step += 1) {
    const changed = changedFile(seed, step);
    // The ports of shipped files may be taken on this machine, and generating their sample logs takes a while.
    const pipeline = changed.text
      .replaceAll(/\b9429\b/g, String(port))
      .replace(/^( *- use: demo-data\b.*)$/m, '$1\n    enabled: false');
    await withSite({ pipeline }, async (file) => {
      const errors = await checked(file);
      const asked = await started(file, '/livez', errors.length > 0);
      const isRefused = typeof asked === 'string';
      counts[isRefused ? 'refused' : 'started'] += 1;
      if (isRefused !== errors.length > 0)
        differences.push(`step ${step}, ${changed.kind}: ${JSON.stringify([errors, asked]).slice(0, 500)}`);
    });
  }
  return { ...counts, differences };
}
