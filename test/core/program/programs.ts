import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that is not part of the repository, found with this variable or in the PATH; undefined if there is none. */
export function findProgram(variable: string, name: string): string | undefined {
  return (
    process.env[variable] ??
    (process.env['PATH'] ?? '')
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find((file) => existsSync(file))
  );
}
