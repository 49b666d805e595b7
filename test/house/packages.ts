import { isBuiltin } from 'node:module';
import { importsOf } from '../setup/sources.js';

/** The packages that sources import, `import()` and types included, without those that Node brings. */
export function importedPackages(root: string, files: readonly string[]): readonly string[] {
  const specifiers = files.flatMap((file) => importsOf(root, file));
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
