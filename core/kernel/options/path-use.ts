import { isAbsolute, join } from 'node:path';
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
]);

/** How the process uses the file that a flag names; undefined where it names none. */
export function pathUseOf(flag: string): PathUse | undefined {
  return pathFlags.get(flag);
}

/** Options of an owner whose paths to write begin in the data folder (`-data-dir`), where they are relative. */
export function belowDataDir(
  options: Readonly<Record<string, unknown>>,
  schema: OptionSchema,
  dataDir: string,
): Readonly<Record<string, unknown>> {
  const moved = definitionsOf('', schema)
    .filter(({ flag, shares }) => pathUseOf(flag ?? shares ?? '') === 'write')
    .flatMap(({ key }) => {
      const path = new Map(Object.entries(options)).get(key);
      return typeof path === 'string' && path !== '' && !isAbsolute(path)
        ? [[key, join(dataDir, path)] as const]
        : [];
    });
  return Object.fromEntries([...Object.entries(options), ...moved]);
}
