/**
 * Runs at the end of packing: deletes the declarations in dist that the exports of the package do not reach. npm runs it in the package
 * folder.
 */
import { readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { importedPath, importsOf } from './sources.js';

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly types: string }>>;
}

// package.json is the manifest of this package.
const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const reached = new Set(Object.values(exports).map(({ types }) => join(types)));
for (const file of reached) {
  for (const specifier of importsOf('.', file)) {
    const path = importedPath(file, specifier, '.d.ts');
    if (path !== undefined) reached.add(path);
  }
}
for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  const file = join('dist', name);
  if (file.endsWith('.d.ts') && !reached.has(file)) unlinkSync(file);
}
