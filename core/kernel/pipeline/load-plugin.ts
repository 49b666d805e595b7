import { existsSync, readdirSync, statSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve, dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type OptionSchema,
  readBuiltInSchemas,
  schemaProblem,
  suggest,
  withSecretFiles,
} from '../options/index.js';
import type { LintRule, Plugin } from '../plugin/contract.js';
import { syntaxFaultAt, thrownAt } from '../thrown-at.js';
import { declarationFault } from './declarations.js';
import { createRequire } from 'node:module';

/** The result of loading `use`. */
export type PluginLoad =
  | {
      readonly kind: 'loaded';
      readonly plugin: Plugin;
      readonly schema: OptionSchema;
      /** Set if its file has changed since this process loaded it; a module is only loaded once. */
      readonly isOutdated?: true;
    }
  | Failed<'unknown' | 'broken'>;

/** No plugin of that name exists, or a module exists but is unusable. */
interface Failed<Kind extends 'unknown' | 'broken'> {
  readonly kind: Kind;
  readonly message: string;
  readonly fix?: string | undefined;
}

/** The built-in plugins, which `use` names without a path. Tests replace them. */
export interface BuiltIns {
  readonly names: readonly string[];
  readonly schemas: ReadonlyMap<string, OptionSchema>;
  /** Returns the module's default export. */
  load(name: string): Promise<unknown>;
}

const builtInFolder = fileURLToPath(new URL('../../../plugins/', import.meta.url));

/** The plugins of this package: one folder each, with a schema of the same name. */
export function packageBuiltIns(): BuiltIns {
  const folder = builtInFolder;
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => hasIndex(join(folder, name))) : [];
  return {
    names: names.sort(),
    schemas: readBuiltInSchemas(),
    load: (name) => importDefault(join(folder, name, 'index.js')),
  };
}

/** The rules provided by built-in plugins, without loading the plugins. */
export async function readBuiltInLint(): Promise<readonly LintRule[]> {
  const found: LintRule[] = [];
  for (const name of readdirSync(builtInFolder).sort()) {
    const path = join(builtInFolder, name, 'lint.js');
    if (!existsSync(path)) continue;
    // The contract of a built-in plugin's lint.ts; a test compares it with the plugin's declaration.
    const module = (await import(pathToFileURL(path).href)) as { readonly lint: readonly LintRule[] };
    found.push(...module.lint);
  }
  return found;
}

/** The compiled index, or the source when running from source. */
function hasIndex(folder: string): boolean {
  return existsSync(join(folder, 'index.js')) || existsSync(join(folder, 'index.ts'));
}

const noOptions: OptionSchema = { type: 'object', properties: {}, additionalProperties: false };

/** Loads the plugin that `use` names in a file of `folder`: a built-in, a module by path, or an npm package. Never throws. */
export async function loadPlugin(use: string, folder: string, builtIns: BuiltIns): Promise<PluginLoad> {
  if (/^\.{1,2}\//.test(use) || isAbsolute(use)) return loadPath(use, folder);
  if (builtIns.names.includes(use)) {
    const schema = builtIns.schemas.get(use) ?? noOptions;
    return loadModule(() => builtIns.load(use), undefined, schema);
  }
  const path = resolvePackage(use, folder);
  if (path !== undefined) return loadFile(path);
  return unknownName(use, builtIns);
}

function loadPath(use: string, folder: string): Promise<PluginLoad> | PluginLoad {
  const path = findModule(resolve(folder, use));
  if (path === undefined) {
    return {
      kind: 'unknown',
      message: `there is no module at "${use}"`,
      fix: 'paths are relative to the directory of this file',
    };
  }
  if (isTypeScript(path) && !nodeLoadsTypeScript()) {
    const fix = 'compile it and name the .js file, or use Node.js 22.18 or newer, which loads it';
    const message = `"${use}" is TypeScript, which Node.js ${process.versions.node} does not load`;
    return { kind: 'broken', message, fix };
  }
  return loadFile(path);
}

function isTypeScript(path: string): boolean {
  return /\.[cm]?ts$/.test(path);
}

/** True if Node.js loads TypeScript modules by stripping types, which it does since 22.18. */
function nodeLoadsTypeScript(): boolean {
  // The types of Node 20 do not include it.
  const { typescript = false }: { readonly typescript?: unknown } = process.features as object;
  return typescript !== false;
}

/** Modification times of modules' files when this process loaded them, which it does once. */
const loadedAsOf = new Map<string, number>();

async function loadFile(path: string): Promise<PluginLoad> {
  const changedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const load = await loadModule(() => importDefault(path), path);
  if (load.kind !== 'loaded') return load;
  const asOf = loadedAsOf.get(path) ?? changedMs;
  loadedAsOf.set(path, asOf);
  return changedMs === asOf ? load : { ...load, isOutdated: true };
}

async function loadModule(
  load: () => Promise<unknown>,
  path: string | undefined,
  builtInSchema?: OptionSchema,
): Promise<PluginLoad> {
  let exported: unknown;
  try {
    exported = await load();
  } catch (error) {
    const message = `cannot be loaded: ${firstLine(error)}${await placeOf(error, path)}`;
    return { kind: 'broken', message, fix: loadFix(error, path) };
  }
  const plugin = asPlugin(exported);
  if (plugin.kind === 'broken') return plugin;
  // The project's tests check the built-in schemas.
  if (builtInSchema !== undefined) return { kind: 'loaded', plugin, schema: builtInSchema };
  // The schema is checked below; the type only names the parts used here.
  const schema = plugin.schema ?? noOptions;
  const problem = schemaProblem(schema);
  if (problem !== undefined) return { kind: 'broken', message: `has an invalid options schema: ${problem}` };
  return { kind: 'loaded', plugin, schema: withSecretFiles(schema) };
}

async function importDefault(path: string): Promise<unknown> {
  // The compiler does not know the module's exports.
  const module = (await import(pathToFileURL(path).href)) as { readonly default?: unknown };
  return module.default;
}

function unknownName(use: string, builtIns: BuiltIns): PluginLoad {
  const near = suggest(use.replace(/\.[cm]?[jt]s$/, ''), builtIns.names);
  const message = `unknown plugin "${use}": it is neither built in nor an installed package`;
  if (near !== undefined) return { kind: 'unknown', message, fix: `did you mean "${near}"?` };
  if (builtIns.schemas.has(use))
    return { kind: 'unknown', message, fix: 'this plugin is planned for a later version' };
  return { kind: 'unknown', message, fix: `built-in plugins are ${builtIns.names.join(', ')}` };
}

/** Advice for the failures that a site's new module commonly has. */
function loadFix(error: unknown, path = ''): string | undefined {
  const text = firstLine(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return 'Node.js does not load TypeScript from node_modules: compile it and name the .js file';
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return 'Node.js only strips types: avoid enums, namespaces and parameter properties, or compile it and name the .js file';
  if (isTypeScript(path) && /does not provide an export named/.test(text))
    return 'if it is a type, import it with "import type"';
  if (/Cannot find package '(?:@[^/']+\/)?ref-proxy'/.test(text))
    return 'run npm install with the directory of ref-proxy in a directory above the module (docs/plugins.md)';
  if (/Cannot use import statement outside a module|Unexpected token 'export'/.test(text))
    return 'add "type": "module" to its package.json, or rename it to .mjs';
  return undefined;
}

/** ` (/etc/site/gate.js:14:5)`, or empty if the position is unknown. */
async function placeOf(error: unknown, path: string | undefined): Promise<string> {
  const thrown = thrownAt(error);
  const at =
    thrown ?? (error instanceof SyntaxError && path !== undefined ? await syntaxFaultAt(path) : undefined);
  return at === undefined ? '' : ` (${at})`;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? text;
}

const define =
  'export default defineStage({...}), defineEndpoint({...}) or defineService({...}) of ref-proxy/plugin';
const declare = 'docs/plugins.md shows how metrics and routes are declared';
const restUses: ReadonlySet<unknown> = new Set(['never', 'once', 'maybe', 'many']);

/** Narrows a module's default export to a plugin, or returns what is missing. */
export function asPlugin(exported: unknown): Plugin | Failed<'broken'> {
  if (typeof exported !== 'object' || exported === null) {
    return { kind: 'broken', message: 'has no default export that is a plugin', fix: define };
  }
  const parts = new Map<string, unknown>(Object.entries(exported));
  const lacks = missingPart(parts);
  if (lacks !== undefined)
    return { kind: 'broken', message: `does not export a valid plugin: ${lacks}`, fix: define };
  const fault = declarationFault(parts);
  if (fault !== undefined)
    return { kind: 'broken', message: `has an invalid declaration: ${fault}`, fix: declare };
  // Everything that the loader, the checker and the kernel use was checked; options and slots are up to the plugin.
  return exported as Plugin;
}

function missingPart(parts: ReadonlyMap<string, unknown>): string | undefined {
  const kind = parts.get('kind');
  if (kind !== 'stage' && kind !== 'endpoint' && kind !== 'service')
    return 'its kind is not stage, endpoint or service';
  const name = parts.get('name');
  if (typeof name !== 'string' || name === '') return 'it has no name';
  if (typeof parts.get('create') !== 'function') return 'it has no create function';
  const schema = parts.get('schema');
  if (schema !== undefined && (typeof schema !== 'object' || schema === null))
    return 'its schema is not an object';
  if (kind !== 'stage') return undefined;
  if (!isTextList(parts.get('needs'))) return 'it does not list the slots it needs';
  if (!isTextList(parts.get('gives'))) return 'it does not list the slots it gives';
  return restUses.has(parts.get('rest')) ? undefined : 'rest is not never, once, maybe or many';
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Resolves a path to a module: the file itself, the file with an extension, or the index of a folder. */
function findModule(path: string): string | undefined {
  const candidates = [
    path,
    `${path}.js`,
    `${path}.mjs`,
    `${path}.cjs`,
    join(path, 'index.js'),
    join(path, 'index.mjs'),
  ];
  return candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile() === true);
}

/** The entry file of an npm package as imported from `folder`; undefined when it is not installed. */
function resolvePackage(name: string, folder: string): string | undefined {
  if (!/^(?:@[a-z0-9._-]+\/)?[a-z0-9_-][a-z0-9._-]*(?:\/[\w./-]+)?$/i.test(name)) return undefined;
  try {
    const path = createRequire(join(folder, 'pipeline.yaml')).resolve(name);
    // Node's own modules resolve to their names; they are not plugins.
    return path === name ? undefined : path;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ERR_PACKAGE_PATH_NOT_EXPORTED' ? resolveImportOnly(name, folder) : undefined;
  }
}

/** Resolves packages that only export for `import`, which the resolver of `require` does not find. */
function resolveImportOnly(name: string, folder: string): string | undefined {
  for (let here = folder; ; here = dirname(here)) {
    const root = join(here, 'node_modules', name);
    if (existsSync(join(root, 'package.json'))) {
      const target = importTarget(readManifest(join(root, 'package.json')));
      return target === undefined ? undefined : join(root, target);
    }
    if (dirname(here) === here) return undefined;
  }
}

function readManifest(path: string): unknown {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof manifest === 'object' && manifest !== null && 'exports' in manifest
      ? manifest.exports
      : undefined;
  } catch {
    return undefined;
  }
}

/** The file that `exports` names for an import of the package itself. */
function importTarget(exported: unknown): string | undefined {
  if (typeof exported === 'string') return exported;
  if (typeof exported !== 'object' || exported === null) return undefined;
  for (const [condition, target] of Object.entries(exported)) {
    if (!['.', 'import', 'node', 'default'].includes(condition)) continue;
    const found = importTarget(target);
    if (found !== undefined) return found;
  }
  return undefined;
}
