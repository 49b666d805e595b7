import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../core/kernel/options/index.js';

/** The parts of this package that a copy has in addition to package.json, as paths in the package. */
export interface PackageParts {
  /** Copied files and folders. */
  readonly copied?: readonly string[];
  /** Matches the full paths of files to leave out of the copied folders. */
  readonly leftOut?: RegExp;
  /** Files and folders linked to this package. */
  readonly linked: readonly string[];
  /** Scripts that the copy overrides. */
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Copies parts of this package into a new folder; the caller removes the folder. */
export function copyPackage({ copied = [], leftOut, linked, scripts = {} }: PackageParts): string {
  const root = packageRoot();
  const folder = mkdtempSync(join(tmpdir(), 'ref-proxy-copy-'));
  // package.json is the manifest of this package.
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: object;
  };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ ...manifest, scripts: { ...manifest.scripts, ...scripts } }, undefined, 2),
  );
  const filter = (source: string): boolean => leftOut?.test(source) !== true;
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true, filter });
  for (const path of linked) symlinkSync(join(root, path), join(folder, path));
  return folder;
}
