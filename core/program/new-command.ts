import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFailure } from '../kernel/pipeline/source.js';
import { packageBuiltIns } from '../kernel/pipeline/index.js';
import { suggest, UsageError, type CommandFlag } from '../kernel/options/index.js';
import type { Io } from './io.js';
import { pluginFiles } from './new-plugin/files.js';
import type { NewPlugin } from './new-plugin/plugin.js';
import { plainHelp, readPlainArgs } from './own-flags.js';
import { packageVersion } from './version.js';

const flags: readonly CommandFlag[] = [
  { name: 'kind', kind: 'string', description: 'stage or endpoint; default stage' },
  { name: 'language', kind: 'string', description: 'ts or js; default ts' },
  { name: 'folder', kind: 'string', description: 'folder to make; default the name of the plugin' },
];

/** Makes the folder of a plugin that works: code, schema, tests, a pipeline and package.json. */
export async function newThing(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals, wantsHelp } = readPlainArgs(args, flags);
  if (wantsHelp) {
    io.out(plainHelp('new plugin NAME [flags]', flags));
    return 0;
  }
  const [what, packageName, ...others] = positionals;
  if (what !== 'plugin') throw new UsageError(['new makes a plugin: new plugin NAME']);
  if (packageName === undefined || others.length > 0)
    throw new UsageError(['name one plugin: new plugin NAME']);
  const plugin: NewPlugin = {
    packageName,
    name: nameOf(packageName),
    kind: oneOf('kind', values.get('kind') ?? 'stage', ['stage', 'endpoint']),
    language: oneOf('language', values.get('language') ?? 'ts', ['ts', 'js']),
    version: packageVersion(),
  };
  const folder = values.get('folder') ?? plugin.name;
  await makeFolder(folder);
  for (const [name, text] of pluginFiles(plugin)) await writeFile(join(folder, name), text, { flag: 'wx' });
  io.out(
    `${folder}: ${plugin.kind === 'stage' ? 'a stage' : 'an endpoint'} that works. Next:\n\n  cd ${folder}\n  npm install && npm test\n\nREADME.md tells the rest.\n`,
  );
  return 0;
}

function nameOf(packageName: string): string {
  const name = /^(?:@[a-z0-9][a-z0-9._-]*\/)?(?<name>[a-z][a-z0-9-]*)$/.exec(packageName)?.groups?.['name'];
  if (name === undefined)
    throw new UsageError([
      `"${packageName}" is no name: lower-case letters, digits and dashes, as in only-prod`,
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

/** Nothing of others is overwritten. */
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
