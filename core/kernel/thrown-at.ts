import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from './options/index.js';

/** Stack frames of this package and of Node say nothing about a plugin of a site. */
const ownFolder = packageRoot();
const frame = /(?:^|[ (])(file:\/\/\/[^\s()]+|\/[^\s():]+):(\d+)(?::(\d+))?\)?$/;

/** Where in the code of a site an error was thrown, `/etc/site/gate.js:14:5`; undefined where its stack does not tell. */
export function thrownAt(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const line of (error.stack ?? '').split('\n')) {
    const [, where, ...numbers] = frame.exec(line) ?? [];
    if (where === undefined) continue;
    const path = where.startsWith('file:') ? fileURLToPath(where) : where;
    // Beyond the kernel stands who called it, and no more of the plugin.
    if (path.startsWith(ownFolder) && path.includes('/core/kernel/')) return undefined;
    if (path.startsWith(ownFolder)) continue;
    return [path, ...numbers].join(':').replace(/:$/, '');
  }
  return undefined;
}

/** Longest time that Node may take to look at a module. */
const parseBoundMs = 10_000;

/**
 * Where a module cannot be parsed, `/etc/site/gate.js:14`: the error of an import does not tell, so Node is asked to look at the file alone.
 * Undefined where that finds nothing, as when the fault is in a module that this one imports.
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
