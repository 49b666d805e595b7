import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

/** Paths of the sources below the given folders of the package. */
export function sourcesIn(root: string, folders: readonly string[]): readonly string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .filter((file) => /\.(?:tsx?|js)$/.test(file));
}

/** The import specifiers of a source as written, including `import()` and type imports. */
export function importsOf(root: string, file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true);
  return importedFiles.map(({ fileName }) => fileName);
}

/** The path in the package of a relative import; undefined for a package. */
export function importedPath(from: string, specifier: string, ending = '.ts'): string | undefined {
  return specifier.startsWith('.')
    ? normalize(join(dirname(from), specifier)).replace(/\.js$/, ending)
    : undefined;
}
