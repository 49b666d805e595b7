import {
  resolveOptions,
  type OptionSchema,
  type OptionSources,
  type ResolvedOptions,
} from '../options/index.js';
import type { SectionName } from './draft.js';
import { toPlain, valueOf } from './located.js';
import { readYaml } from './read-yaml.js';
import { readSource } from './source.js';

/** Resolves one section of a pipeline file and nothing else: no plugin is loaded. Throws an Error that says why the file cannot be read. */
export async function readSection(
  file: string,
  name: SectionName,
  schema: OptionSchema,
  sources: OptionSources,
): Promise<ResolvedOptions> {
  const source = await readSource(file);
  if ('reason' in source) throw new Error(`${file} ${source.reason}`);
  const { root, problems } = readYaml(source, sources.env);
  if (root === undefined || problems.length > 0)
    throw new Error(`${file} ${problems[0]?.message ?? 'is no pipeline'}`);
  const node = valueOf(root, name);
  return resolveOptions(schema, node === undefined ? undefined : toPlain(node), sources);
}
