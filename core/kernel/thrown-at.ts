import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from './options/index.js';

/** Folder of this package; its stack frames, and those of Node, are not part of a site's plugin. */
const ownFolder = packageRoot();
const frame = /(?:^|[ (])(file:\/\/\/[^\s()]+|\/[^\s():]+):(\d+)(?::(\d+))?\)?$/;

/** The position in a site's code where an error was thrown, `/etc/site/gate.js:14:5`; undefined if its stack does not show it. */
export function thrownAt(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const line of (error.stack ?? '').split('\n')) {
    const [, where, ...numbers] = frame.exec(line) ?? [];
    if (where === undefined) continue;
    const path = where.startsWith('file:') ? fileURLToPath(where) : where;
    // Frames beyond the kernel are its callers, and not part of the plugin.
    if (path.startsWith(ownFolder) && path.includes('/core/kernel/')) return undefined;
    if (path.startsWith(ownFolder)) continue;
    return [path, ...numbers].join(':').replace(/:$/, '');
  }
  return undefined;
}

/** Timeout for Node to parse a module. */
const parseBoundMs = 10_000;

/**
 * The position of a module's syntax error, `/etc/site/gate.js:14`. The error of an import does not contain it, so Node is run to check the
 * file alone. Undefined if that finds nothing, for example because the error is in an imported module.
 */
export async function syntaxFaultAt(path: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(process.execPath, ['--check', path], { timeout: parseBoundMs });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'stderr' in error)) return undefined;
    const [first = ''] = String(error.stderr).split('\n', 1);
    const place = first.startsWith('file:') ? first.replace(/^file:\/\//, '') : first;
    return /^\/.+:\d+$/.test(place) ? place : undefined;
  }
}
