import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import ts from 'typescript';

/** Paths of the sources below some folders. */
export function sourcesIn(root: string, folders: readonly string[]): readonly string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .filter((file) => /\.(?:tsx?|js)$/.test(file));
}

/** The packages that sources import, `import()` and types included, without those that Node brings. */
export function importedPackages(root: string, files: readonly string[]): readonly string[] {
  const specifiers = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  });
  const names = specifiers.filter((each) => !/^[./]/.test(each) && !isBuiltin(each)).map(packageOf);
  return [...new Set(names)].sort();
}

/** `@koa/router` of `@koa/router/dist/x.js`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
