import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../kernel/options/index.js';

/** The version of this package. */
export function packageVersion(): string {
  // package.json is this package's own.
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}
