import { readFile } from 'node:fs/promises';
import { describeSystemError } from '../../base/errors/system-error.js';

/** Reads a file that an option names; an Error names the flag, the path and the reason. */
export async function readOptionFile(flag: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`${flag}: cannot read ${path}: ${describeSystemError(error)}`, { cause: error });
  }
}
