import type { FlagIndex } from './flag-index.js';
import { readSetting, sentence } from './read-setting.js';
import { suggest } from './suggest.js';
import { type Environment, servingFlags, variableOf } from './variables.js';
import { plainYargs } from './plain-yargs.js';

/** A flag of the program itself, such as `-pipeline` or `-help`: not an option of a plugin. */
export interface CommandFlag {
  readonly name: string;
  readonly kind: 'boolean' | 'string';
  readonly description: string;
}

export interface CommandLine {
  /** Texts of option flags by name; each is valid unless a problem names it. The last of repeated flags is used. */
  readonly flags: ReadonlyMap<string, string>;
  /** Texts of the program's own flags by name; a switch is "true" or "false". */
  readonly own: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  /** Unknown flags and invalid values, one sentence each, in the order of the command line. */
  readonly problems: readonly string[];
}

/**
 * Parses a command line against the known flags. Never throws. A caller that needs the flags of a site's plugins parses twice: first only
 * for the name of the pipeline file, then converting the problems to a UsageError.
 * @param env source of the variables of the program's own flags
 */
export function parseCommandLine(
  args: readonly string[],
  index: FlagIndex,
  own: readonly CommandFlag[] = [],
  env: Environment = {},
): CommandLine {
  const ownByName = new Map(own.map((flag) => [flag.name, flag]));
  const shapeOf = (name: string): FlagShape => {
    const kind = ownByName.get(name)?.kind ?? index.get(name)?.kind;
    if (kind === undefined) return 'unknown';
    return kind === 'boolean' ? 'switch' : 'value';
  };
  const split = splitArgs(args, shapeOf);
  const { texts, positionals } = readWithYargs(split);
  const flags = new Map([...texts].filter(([name]) => !ownByName.has(name)));
  const given = variablesOf(ownByName, texts, env);
  const ownTexts = new Map([
    ...given.map(({ flag, text }) => [flag, text] as const),
    ...[...texts].filter(([name]) => ownByName.has(name)),
  ]);
  const known = [...ownByName.keys(), ...index.names()];
  const problems = [
    ...split.flatMap((arg) => problemsOfArg(arg, index, ownByName, known)),
    ...given.flatMap(({ flag, variable, text }) =>
      problemsOfOwn(flag, text, ownByName, `environment variable ${variable}`),
    ),
  ];
  return { flags, own: ownTexts, positionals, problems };
}

function problemsOfArg(
  arg: FlagArg,
  index: FlagIndex,
  own: ReadonlyMap<string, CommandFlag>,
  known: readonly string[],
): readonly string[] {
  switch (arg.kind) {
    case 'positional':
      return [];
    case 'no-value':
      return [`flag -${arg.name} needs a value`];
    case 'unknown':
      return [unknownFlag(arg.name, known)];
    case 'flag':
      return own.has(arg.name)
        ? problemsOfOwn(arg.name, arg.text, own)
        : problemsOfOption(arg.name, arg.text, index);
  }
}

/** The problem with a flag that is none of the known ones. */
export function unknownFlag(name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  return `unknown flag -${name}${meant === undefined ? '' : `, did you mean -${meant}?`}`;
}

/** The program's own flags that are not on the command line but set by their environment variables. */
function variablesOf(
  own: ReadonlyMap<string, CommandFlag>,
  texts: ReadonlyMap<string, string>,
  env: Environment,
): readonly { readonly flag: string; readonly variable: string; readonly text: string }[] {
  return servingFlags.flatMap((flag) => {
    const variable = variableOf(flag);
    const text = env[variable] ?? '';
    return text === '' || !own.has(flag) || texts.has(flag) ? [] : [{ flag, variable, text }];
  });
}

function problemsOfOwn(
  name: string,
  text: string,
  own: ReadonlyMap<string, CommandFlag>,
  subject = `flag -${name}`,
): readonly string[] {
  const isSwitch = own.get(name)?.kind === 'boolean';
  if (!isSwitch || text === 'true' || text === 'false') return [];
  return [`${subject} must be true or false, not ${JSON.stringify(text)}`];
}

function problemsOfOption(name: string, text: string, index: FlagIndex): readonly string[] {
  const definition = index.get(name);
  if (definition === undefined) return [];
  const setting = readSetting(definition, text, `flag -${name}`);
  return setting.kind === 'value' ? [] : [sentence(setting)];
}

function readWithYargs(split: readonly FlagArg[]): {
  readonly texts: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
} {
  const names = new Set(split.flatMap((arg) => (arg.kind === 'flag' ? [arg.name] : [])));
  // yargs strips one pair of quotes around a value, so each value gets an additional pair.
  const tokens = split.flatMap((arg) => (arg.kind === 'flag' ? [`--${arg.name}="${arg.text}"`] : []));
  const positionals = split.flatMap((arg) => (arg.kind === 'positional' ? [arg.text] : []));
  const read: unknown = plainYargs([...tokens, '--', ...positionals])
    .string([...names])
    .parseSync();
  const members = new Map(Object.entries(read ?? {}));
  const texts = new Map<string, string>();
  for (const name of names) {
    const text: unknown = members.get(name);
    if (typeof text === 'string') texts.set(name, text);
  }
  const rest: unknown = members.get('--');
  return { texts, positionals: Array.isArray(rest) ? rest.map(String) : [] };
}

/** The command line or environment is invalid; shown without a stack, with exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = 2;
  readonly problems: readonly string[];

  /** @param problems all problems found, one sentence each */
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Kind of a flag, as far as it is known before its value is parsed. */
type FlagShape = 'switch' | 'value' | 'unknown';

/** One argument, split. */
type FlagArg =
  | { readonly kind: 'flag'; readonly name: string; readonly text: string }
  | { readonly kind: 'unknown'; readonly name: string }
  | { readonly kind: 'no-value'; readonly name: string }
  | { readonly kind: 'positional'; readonly text: string };

/**
 * Splits arguments into flags, in all forms that operators use: `-name=value`, `--name value`, `-switch`, `-switch=false`,
 * `-a.dotted-name`. yargs takes a single dash as a series of one-letter switches, so this converts everything to one form first. `--` ends
 * the flags. A flag that needs a value takes the next argument, whatever it looks like.
 */
function splitArgs(args: readonly string[], shapeOf: (name: string) => FlagShape): readonly FlagArg[] {
  const split: FlagArg[] = [];
  let at = 0;
  while (at < args.length) {
    const arg = args[at++] ?? '';
    if (arg === '--') {
      for (const text of args.slice(at)) split.push({ kind: 'positional', text });
      break;
    }
    const match = /^(?:--|-(?=[A-Za-z_]))([^=]+)(?:=([\s\S]*))?$/.exec(arg);
    if (match === null) {
      split.push({ kind: 'positional', text: arg });
      continue;
    }
    const name = match[1] ?? '';
    const text = match[2];
    const shape = shapeOf(name);
    if (shape === 'unknown') split.push({ kind: 'unknown', name });
    else if (text !== undefined) split.push({ kind: 'flag', name, text });
    else if (shape === 'switch') {
      // Operators write `-switch false`, so a plain boolean word is taken as the value.
      const next = args[at];
      const isWord = next === 'true' || next === 'false';
      if (isWord) at++;
      split.push({ kind: 'flag', name, text: isWord ? next : 'true' });
    } else if (at < args.length) split.push({ kind: 'flag', name, text: args[at++] ?? '' });
    else split.push({ kind: 'no-value', name });
  }
  return split;
}
