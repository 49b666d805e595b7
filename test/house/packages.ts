import { isBuiltin } from 'node:module';
import { importsOf } from '../setup/sources.js';

/** The packages that sources import, including `import()` and type imports, except Node.js built-ins. */
export function importedPackages(root: string, files: readonly string[]): readonly string[] {
  const specifiers = files.flatMap((file) => importsOf(root, file));
  const names = specifiers.filter((each) => !/^[./]/.test(each) && !isBuiltin(each)).map(packageOf);
  return [...new Set(names)].sort();
}

/** Returns `@koa/router` for `@koa/router/dist/x.js`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
