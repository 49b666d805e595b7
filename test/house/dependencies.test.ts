import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { sourcesIn } from '../setup/sources.js';
import { importedPackages } from './packages.js';

interface Manifest {
  readonly name: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const root = packageRoot();
// package.json is the manifest of this package.
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).sort();
const devDependencies = Object.keys(manifest.devDependencies).sort();

/** Code that is bundled at build time, or run only in a clone of the repository. */
const isForDevelopers = (file: string): boolean =>
  file.startsWith('plugins/ui/browser/') || file === 'core/tools/generate/option-types.ts';

test('what the program imports and what it depends on are the same packages', (t) => {
  const files = sourcesIn(root, ['core', 'plugins']).filter((file) => !isForDevelopers(file));
  t.deepEqual(importedPackages(root, files), dependencies);
});

test('every package that anything here imports is declared', (t) => {
  const files = sourcesIn(root, ['core', 'plugins', 'test', 'examples', '.config']);
  const declared = new Set([manifest.name, ...dependencies, ...devDependencies]);
  t.deepEqual(
    importedPackages(root, files).filter((name) => !declared.has(name)),
    [],
  );
});

test('every development dependency is imported, run by a script, or holds the types of a package that is used', (t) => {
  const files = sourcesIn(root, ['core', 'plugins', 'test', '.config']);
  const scripts = Object.values(manifest.scripts).join(' ').split(/\s+/);
  const used = new Set([...importedPackages(root, files), ...scripts]);
  const isUsed = (name: string): boolean =>
    used.has(name) || (name.startsWith('@types/') && (name === '@types/node' || used.has(typed(name))));
  t.deepEqual(
    devDependencies.filter((name) => !isUsed(name)),
    [],
  );
});

/** Returns `@koa/router` for `@types/koa__router`. */
function typed(name: string): string {
  const plain = name.replace('@types/', '');
  return plain.includes('__') ? `@${plain.replace('__', '/')}` : plain;
}
