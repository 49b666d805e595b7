import {
  builtInDefinitions,
  helpText,
  suggest,
  variableOf,
  type CommandFlag,
  type OptionDefinition,
} from '../kernel/options/index.js';
import type { Io } from '../program/io.js';
import { serveFlags } from '../program/own-flags.js';

const usage = `Usage: ref-proxy flags [WORD...]

Prints every flag of serve with its default and description; with words, only the flags whose name, environment variable, key in the pipeline file or
meaning contains all of them.
`;

/** Prints every flag with its meaning, or only those that contain the given words. */
export async function flags(args: readonly string[], io: Io): Promise<number> {
  if (args.some((arg) => /^--?h(elp)?$/.test(arg))) {
    io.out(usage);
    return 0;
  }
  // Flags may be written as on a command line.
  const words = args.map((arg) => arg.replace(/^-+/, '').toLowerCase()).filter((word) => word !== '');
  const has = (texts: readonly string[]): boolean =>
    words.every((word) => texts.some((text) => text.toLowerCase().includes(word)));
  const all = builtInDefinitions().filter(({ flag }) => flag !== undefined);
  const definitions = all.filter((definition) => has(textsOf(definition)));
  const own = serveFlags.filter((flag) => has(textsOfOwn(flag)));
  if (definitions.length + own.length === 0) {
    io.err(
      `ref-proxy flags: no flag contains ${words.map((word) => `"${word}"`).join(' and ')}${advice(words, all)}\n`,
    );
    return 1;
  }
  const text = await helpText(definitions, {
    usage: 'Flags of ref-proxy serve',
    own,
    epilogue: `Each is also an environment variable: -log-level is ${variableOf('log-level')}.`,
  });
  io.out(`${text}\n`);
  return 0;
}

function textsOf({ flag = '', env, key, description }: OptionDefinition): readonly string[] {
  return [flag, ...env, key, description];
}

function textsOfOwn({ name, description }: CommandFlag): readonly string[] {
  return [name, variableOf(name), description];
}

/** The first word that is similar to a flag, or to a part of one. */
function advice(words: readonly string[], definitions: readonly OptionDefinition[]): string {
  const names = definitions.flatMap(({ flag = '', key, env }) => [flag, key, ...env]);
  const parts = names.flatMap((name) => name.split(/[-._]/).filter((part) => part.length > 2));
  const candidates = new Set([...names, ...parts].map((name) => name.toLowerCase()));
  const isFound = (word: string): boolean => [...candidates].some((candidate) => candidate.includes(word));
  for (const word of words) {
    const meant = isFound(word) ? undefined : suggest(word, candidates);
    if (meant !== undefined) return `, did you mean "${meant}"?`;
  }
  return '; "ref-proxy flags" prints all';
}
