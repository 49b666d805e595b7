import { generateFlagsDoc } from './flags-doc.js';
import { generateTypes } from './generate-types.js';
import { packageRoot, readBuiltInSchemas } from './schema-files.js';

/** All files generated from the schemas: contents by path, relative to the package root. */
export async function generateFiles(root: string = packageRoot()): Promise<ReadonlyMap<string, string>> {
  const schemas = readBuiltInSchemas(root);
  return new Map([
    ['core/base/options.gen.ts', await generateTypes(schemas)],
    ['docs/flags.md', generateFlagsDoc(schemas)],
  ]);
}
