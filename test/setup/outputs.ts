import { existsSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Files in dist that do not come from TypeScript sources: the browser UI, test rooms, the compiler's build info. */
const madeOtherwise: ReadonlySet<string> = new Set(['plugins/ui/page', 'test/rooms', '.tsbuildinfo']);

/** Removes the output of deleted sources from dist, because plugins are found there by folder and tests by name. */
export function removeOldOutputs(root: string): void {
  clear(root, '');
}

function clear(root: string, folder: string): void {
  for (const entry of readdirSync(join(root, 'dist', folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    const output = join(root, 'dist', path);
    if (madeOtherwise.has(path)) continue;
    if (!entry.isDirectory()) {
      if (!hasSource(root, path)) unlinkSync(output);
      continue;
    }
    clear(root, path);
    if (readdirSync(output).length === 0) rmdirSync(output);
  }
}

function hasSource(root: string, output: string): boolean {
  const source = join(root, output.replace(/\.(?:d\.ts|js|js\.map)$/, ''));
  return existsSync(`${source}.ts`) || existsSync(`${source}.tsx`);
}
