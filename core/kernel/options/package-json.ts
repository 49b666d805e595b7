import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './schema-files.js';

interface PackageJson {
  /** What it is installed and imported as. */
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** What package.json says of this package. */
export function packageJson(): PackageJson {
  // It is this package's own.
  return JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as PackageJson;
}

/** The version of this package. */
export function packageVersion(): string {
  return packageJson().version;
}
