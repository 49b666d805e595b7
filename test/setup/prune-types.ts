/** The end of packing: of the declarations in dist only those stay that the exports of the package reach. npm runs it in its folder. */
import { readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly types: string }>>;
}

// package.json is this package's own.
const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const reached = new Set(Object.values(exports).map(({ types }) => join(types)));
for (const file of reached) {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true);
  for (const { fileName } of importedFiles)
    if (fileName.startsWith('.')) reached.add(join(dirname(file), fileName.replace(/\.js$/, '.d.ts')));
}
for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  const file = join('dist', name);
  if (file.endsWith('.d.ts') && !reached.has(file)) unlinkSync(file);
}
