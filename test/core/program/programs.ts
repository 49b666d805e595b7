import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that is no part of the repository, from the variable `variable` or the PATH; undefined where there is none. */
export function findProgram(variable: string, name: string): string | undefined {
  return (
    process.env[variable] ??
    (process.env['PATH'] ?? '')
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find((file) => existsSync(file))
  );
}
