import { packageRoot, readBuiltInSchemas } from '../options/index.js';
import { editorSchema } from './editor-schema.js';

/** The schema by which editors help with pipeline files, by its path from the package's root. */
export function generateFiles(root: string = packageRoot()): ReadonlyMap<string, string> {
  const schema = editorSchema(readBuiltInSchemas(root));
  return new Map([['schemas/pipeline.schema.json', `${JSON.stringify(schema, undefined, 2)}\n`]]);
}
