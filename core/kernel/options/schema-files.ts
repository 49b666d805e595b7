import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withSecretFiles } from './secret-file.js';
import { definitionsOf, type OptionDefinition, type OptionSchema } from './schema.js';

/** Sections of the pipeline file that are not plugins, in the order of help and documentation. */
export const CORE_SECTIONS = ['server', 'names', 'limits', 'telemetry'] as const;

const SUFFIX = '.schema.json';
/** The schemas of the pipeline file itself and of its tests, which contain no options. */
const OF_FILES: ReadonlySet<string> = new Set(['pipeline', 'pipeline-test']);

/** The folder of this package: the nearest parent with a package.json, whether the code runs compiled or from source. */
export function packageRoot(from: string = dirname(fileURLToPath(import.meta.url))): string {
  let folder = from;
  for (;;) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json above ${from}`);
    folder = parent;
  }
}

/** A pipeline file of this package; the default is that of serve. */
export function shippedPipeline(name = 'reference-compatible.yaml'): string {
  return join(packageRoot(), 'pipelines', name);
}

let ofThisPackage: ReadonlyMap<string, OptionSchema> | undefined;

/** The option schemas by name: core sections first, then all built-in plugins, sorted. Those of this package are read once. */
export function readBuiltInSchemas(root?: string): ReadonlyMap<string, OptionSchema> {
  return root === undefined ? (ofThisPackage ??= readSchemas(packageRoot())) : readSchemas(root);
}

function readSchemas(root: string): ReadonlyMap<string, OptionSchema> {
  const folder = join(root, 'schemas');
  const names = readdirSync(folder)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .filter((name) => !OF_FILES.has(name));
  const sections: readonly string[] = CORE_SECTIONS;
  const plugins = names.filter((name) => !sections.includes(name)).sort();
  const ordered = [...sections.filter((name) => names.includes(name)), ...plugins];
  return new Map(ordered.map((name) => [name, readSchema(join(folder, name + SUFFIX))]));
}

export function builtInDefinitions(schemas = readBuiltInSchemas()): readonly OptionDefinition[] {
  return [...schemas].flatMap(([owner, schema]) => definitionsOf(owner, schema));
}

function readSchema(path: string): OptionSchema {
  const schema: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (typeof schema !== 'object' || schema === null) throw new Error(`${path} is not a JSON schema`);
  return withSecretFiles(schema);
}

interface PackageJson {
  /** The name under which it is installed and imported. */
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
}

export function packageJson(): PackageJson {
  // It is this package's own.
  return JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as PackageJson;
}

export function packageVersion(): string {
  return packageJson().version;
}
