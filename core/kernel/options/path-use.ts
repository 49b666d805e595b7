import { isAbsolute, join } from 'node:path';
import type { ResolvedOptions } from './resolve.js';
import { definitionsOf, type OptionSchema } from './schema.js';

export type PathUse = 'read' | 'write';

/** Flags whose value is a file, and how the process uses it. */
const pathFlags: ReadonlyMap<string, PathUse> = new Map([
  ['tenant-map-file', 'read'],
  ['tls-cert-file', 'read'],
  ['tls-key-file', 'read'],
  ['tls-client-ca-file', 'read'],
  ['patterns-custom-file', 'read'],
  ['patterns-persist-path', 'write'],
  ['label-values-index-persist-path', 'write'],
  ['disk-cache-path', 'write'],
  ['facts-persist-path', 'write'],
]);
/** Files that are kept in the data folder even if nobody names them. */
const usualFiles: ReadonlyMap<string, string> = new Map([['facts-persist-path', 'facts.json']]);

/** How the process uses the file that a flag names; undefined where it names none. */
export function pathUseOf(flag: string): PathUse | undefined {
  return pathFlags.get(flag);
}

/** Options of an owner whose paths to write begin in the data folder (`-data-dir`), where they are relative or have their default. */
export function belowDataDir(
  { options, origins }: Pick<ResolvedOptions, 'options' | 'origins'>,
  schema: OptionSchema,
  dataDir: string,
): Readonly<Record<string, unknown>> {
  const moved = definitionsOf('', schema)
    .filter(({ flag, shares }) => pathUseOf(flag ?? shares ?? '') === 'write')
    .flatMap(({ key, flag = '' }) => {
      const isUsual = origins.get(key)?.kind === 'default' && usualFiles.has(flag);
      const path = isUsual ? usualFiles.get(flag) : new Map(Object.entries(options)).get(key);
      return typeof path === 'string' && path !== '' && !isAbsolute(path)
        ? [[key, join(dataDir, path)] as const]
        : [];
    });
  return Object.fromEntries([...Object.entries(options), ...moved]);
}
