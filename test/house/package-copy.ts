import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../core/kernel/options/index.js';

/** What of this package a copy has, by paths in the package, beside package.json. */
export interface PackageParts {
  /** Files and folders of its own. */
  readonly copied?: readonly string[];
  /** Files of the copied folders that are left out, by their whole paths. */
  readonly leftOut?: RegExp;
  /** Files and folders that it shares with this package. */
  readonly linked: readonly string[];
  /** Scripts that do something else in the copy. */
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Makes a package in a new folder of this one's parts; whoever asks for it removes the folder. */
export function copyPackage({ copied = [], leftOut, linked, scripts = {} }: PackageParts): string {
  const root = packageRoot();
  const folder = mkdtempSync(join(tmpdir(), 'ref-proxy-copy-'));
  // package.json is this package's own.
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
