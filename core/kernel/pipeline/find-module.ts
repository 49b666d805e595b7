import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Resolves a path to a module: the file itself, with an extension, or the index of a folder. */
export function findModule(path: string): string | undefined {
  const candidates = [
    path,
    `${path}.js`,
    `${path}.mjs`,
    `${path}.cjs`,
    join(path, 'index.js'),
    join(path, 'index.mjs'),
  ];
  return candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile() === true);
}

/** The entry file of an npm package as imported from `folder`; undefined when it is not installed. */
export function resolvePackage(name: string, folder: string): string | undefined {
  if (!/^(?:@[a-z0-9._-]+\/)?[a-z0-9_-][a-z0-9._-]*(?:\/[\w./-]+)?$/i.test(name)) return undefined;
  try {
    const path = createRequire(join(folder, 'pipeline.yaml')).resolve(name);
    // Node's own modules resolve to their names; they are not plugins.
    return path === name ? undefined : path;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ERR_PACKAGE_PATH_NOT_EXPORTED' ? resolveImportOnly(name, folder) : undefined;
  }
}

/** For packages that export only to `import`, which the resolver of `require` does not find. */
function resolveImportOnly(name: string, folder: string): string | undefined {
  for (let here = folder; ; here = dirname(here)) {
    const root = join(here, 'node_modules', name);
    if (existsSync(join(root, 'package.json'))) {
      const target = importTarget(readManifest(join(root, 'package.json')));
      return target === undefined ? undefined : join(root, target);
    }
    if (dirname(here) === here) return undefined;
  }
}

function readManifest(path: string): unknown {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof manifest === 'object' && manifest !== null && 'exports' in manifest
      ? manifest.exports
      : undefined;
  } catch {
    return undefined;
  }
}

/** The file that `exports` names for an import of the package itself. */
function importTarget(exported: unknown): string | undefined {
  if (typeof exported === 'string') return exported;
  if (typeof exported !== 'object' || exported === null) return undefined;
  for (const [condition, target] of Object.entries(exported)) {
    if (!['.', 'import', 'node', 'default'].includes(condition)) continue;
    const found = importTarget(target);
    if (found !== undefined) return found;
  }
  return undefined;
}
