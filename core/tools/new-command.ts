import { realpathSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { keysOfTable } from '../base/order.js';
import { readFailure } from '../kernel/pipeline/source.js';
import { packageBuiltIns } from '../kernel/pipeline/index.js';
import { packageJson, packageRoot, suggest, UsageError, type CommandFlag } from '../kernel/options/index.js';
import type { Io } from '../program/io.js';
import { kinds, pluginFiles } from './new-plugin/files.js';
import type { NewPlugin } from './new-plugin/plugin.js';
import { readPlainArgs } from '../program/own-flags.js';

const flags: readonly CommandFlag[] = [
  { name: 'kind', kind: 'string', description: 'stage, endpoint or service; default stage' },
  { name: 'language', kind: 'string', description: 'ts or js; default ts' },
  {
    name: 'folder',
    kind: 'string',
    description: 'directory to create; the default is the name of the plugin',
  },
];

/** Creates the folder of a working plugin: code, schema, tests, a pipeline and package.json. */
export async function newThing(args: readonly string[], io: Io): Promise<number> {
  const line = readPlainArgs(args, { usage: 'new plugin NAME [flags]', flags }, io);
  if (line === undefined) return 0;
  const { own, positionals } = line;
  const [what, packageName, ...others] = positionals;
  if (what !== 'plugin') throw new UsageError(['new creates a plugin: new plugin NAME']);
  if (packageName === undefined || others.length > 0)
    throw new UsageError(['name one plugin: new plugin NAME']);
  const name = nameOf(packageName);
  const folder = own.get('folder') ?? name;
  const ownPackage = packageJson();
  const plugin: NewPlugin = {
    packageName,
    name,
    kind: oneOf('kind', own.get('kind') ?? 'stage', keysOfTable(kinds)),
    language: oneOf('language', own.get('language') ?? 'ts', ['ts', 'js']),
    house: ownPackage,
    link: linkFrom(folder, ownPackage.name),
  };
  await makeFolder(folder);
  for (const [name, text] of pluginFiles(plugin)) await writeFile(join(folder, name), text, { flag: 'wx' });
  io.out(
    `${folder}: ${kinds[plugin.kind].title} that works. Next:\n\n  cd ${folder}\n  npm install && npm test\n\nREADME.md tells the rest.\n`,
  );
  return 0;
}

function nameOf(packageName: string): string {
  const name = /^(?:@[a-z0-9][a-z0-9._-]*\/)?(?<name>[a-z][a-z0-9-]*)$/.exec(packageName)?.groups?.['name'];
  if (name === undefined)
    throw new UsageError([
      `"${packageName}" is not a valid name: use lower-case letters, digits and dashes, as in only-prod`,
    ]);
  if (packageBuiltIns().names.includes(name)) throw new UsageError([`"${name}" is a built-in plugin`]);
  return name;
}

function oneOf<Word extends string>(flag: string, word: string, words: readonly Word[]): Word {
  const found = words.find((each) => each === word);
  if (found !== undefined) return found;
  const meant = suggest(word, words);
  throw new UsageError([
    `-${flag} must be ${words.join(' or ')}, not "${word}"${meant === undefined ? '' : `, did you mean ${meant}?`}`,
  ]);
}

/**
 * Location of this package in npm's notation; undefined if Node.js resolves it from the folder, as below a folder in which it is installed.
 */
function linkFrom(folder: string, packageName: string): string | undefined {
  const root = realpathSync(packageRoot());
  const from = resolve(folder);
  const places = createRequire(join(from, 'index.js')).resolve.paths(packageName) ?? [];
  const isFound = places.some((place) => {
    try {
      return realpathSync(join(place, packageName)) === root;
    } catch {
      return false;
    }
  });
  return isFound ? undefined : `file:${relative(from, root)}`;
}

/** Creates the folder; existing files are never overwritten. */
async function makeFolder(folder: string): Promise<void> {
  let names: readonly string[];
  try {
    await mkdir(folder, { recursive: true });
    names = await readdir(folder);
  } catch (error) {
    throw new Error(`${folder}: ${readFailure(error)}`, { cause: error });
  }
  if (names.length > 0) throw new Error(`${folder} is not empty`);
}
