import { withoutCredentials } from '../base/secrets.js';
import { checkDraft } from '../kernel/check/index.js';
import {
  environmentProblems,
  FlagIndex,
  parseCommandLine,
  shippedPipeline,
  UsageError,
  type CommandFlag,
} from '../kernel/options/index.js';
import { draftPipeline } from '../kernel/pipeline/draft.js';
import { packageBuiltIns } from '../kernel/pipeline/load-plugin.js';
import { readSource } from '../kernel/pipeline/source.js';
import { printFindings } from '../program/findings.js';
import type { Io } from '../program/io.js';
import { migratePipeline } from './migrate-pipeline.js';
import { readArgsFile, readEnvFile } from './migrate-sources.js';
import { readPlainArgs } from '../program/own-flags.js';
import { definitionsFor } from '../program/site-flags.js';

const flags: readonly CommandFlag[] = [
  { name: 'env-file', kind: 'string', description: 'file with environment variables to convert as well' },
  {
    name: 'args-file',
    kind: 'string',
    description:
      'YAML or JSON file with a list of arguments, such as args of a container, or extraArgs of a Helm chart',
  },
  {
    name: 'pipeline',
    kind: 'string',
    description: 'pipeline file to start from; the default is that of serve',
  },
];

const about = `
Prints the pipeline file that means the same as FLAGS do with the default pipeline. Only what differs from the defaults is written; secrets
become references to environment variables.
`;

/** References in a command line that Kubernetes expands: `$(NAME)`. */
const ofKubernetes = /\$\([A-Za-z_]\w*\)/;

/** Prints the pipeline file that is equivalent to a command line and an environment. */
export async function migrate(args: readonly string[], io: Io): Promise<number> {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const line = readPlainArgs(args.slice(0, end), { usage: 'migrate [flags] -- FLAGS...', flags, about }, io);
  if (line === undefined) return 0;
  const { own, positionals } = line;
  if (positionals.length > 0)
    throw new UsageError([`${positionals.join(' ')} is not a flag; put the flags to migrate after --`]);
  const file = own.get('pipeline') ?? shippedPipeline();
  const base = await readSource(file);
  if ('reason' in base) throw new UsageError([`${file} ${base.reason}`]);
  const [argsFile, envFile] = [own.get('args-file'), own.get('env-file')];
  const inFile = argsFile === undefined ? [] : await readArgsFile(argsFile);
  const env = envFile === undefined ? {} : await readEnvFile(envFile);
  const definitions = await definitionsFor(file);
  const index = new FlagIndex(definitions);
  const sorted = sortArgs([...inFile, ...args.slice(end + 1)], index);
  const migrated = parseCommandLine(sorted.plain, index);
  // A container's command begins with the program.
  const stray = migrated.positionals.filter((text, at) => at > 0 || text.startsWith('-'));
  const problems = [
    ...migrated.problems,
    ...stray.map((text) => `${text} is not a flag; flags begin with a dash`),
    ...environmentProblems(definitions, env),
  ];
  if (problems.length > 0) throw new UsageError([...new Set(problems)]);
  const given = { flags: migrated.flags, references: sorted.references, env };
  const notes = [
    ...keptNotes(sorted.kept, index),
    ...unreadNotes(
      env,
      (name) => base.text.includes(`\${${name}`) || definitions.some((one) => one.env.includes(name)),
      index,
    ),
  ];
  const { text, secrets } = await migratePipeline(base, given, notes);
  io.out(text);
  for (const name of secrets.keys())
    io.err(`${name} must be set where this file is used: it contains a secret\n`);
  return report(text, file, { ...env, ...Object.fromEntries(secrets) }, io);
}

/** A command line without the parts that Kubernetes expands. */
interface SortedArgs {
  readonly plain: readonly string[];
  readonly references: ReadonlyMap<string, string>;
  /** Flags that must remain flags, because the file cannot use a variable for a part of a value. */
  readonly kept: readonly string[];
}

function sortArgs(args: readonly string[], index: FlagIndex): SortedArgs {
  const plain: string[] = [];
  const kept: string[] = [];
  const references = new Map<string, string>();
  for (const arg of args) {
    const [, name = '', text = ''] = /^--?([^=]+)=([\s\S]*)$/.exec(arg) ?? [];
    const kind = ofKubernetes.test(text) ? index.get(name)?.kind : undefined;
    const variable = /^\$\((\w+)\)$/.exec(text)?.[1];
    if (kind === undefined) plain.push(arg);
    else if (variable === undefined || kind === 'list' || kind === 'json') kept.push(arg);
    else references.set(name, variable);
  }
  return { plain, references, kept };
}

function keptNotes(kept: readonly string[], index: FlagIndex): readonly string[] {
  if (kept.length === 0) return [];
  const shown = kept.map((arg) => {
    const name = /^--?([^=]+)/.exec(arg)?.[1] ?? '';
    return index.get(name)?.isSecret === true ? `-${name}=...` : withoutCredentials(arg);
  });
  return [
    '',
    'Keep these as flags, because Kubernetes fills in a part of them:',
    ...shown.map((arg) => `  ${arg}`),
  ];
}

/** Notes about variables that nothing reads. Only names are printed, since values may be secret. */
function unreadNotes(
  env: Readonly<Record<string, string | undefined>>,
  isRead: (name: string) => boolean,
  index: FlagIndex,
): readonly string[] {
  const unread = Object.keys(env).filter((name) => !isRead(name));
  if (unread.length === 0) return [];
  const lines = unread.map((name) => {
    const flag = name.toLowerCase().replaceAll('_', '-');
    return index.get(flag) === undefined ? `  ${name}` : `  ${name}: use -${flag} instead`;
  });
  return ['', 'Variables that are not used:', ...lines];
}

/** Prints the checker's findings about the file; a variable that is not set here may be set there. */
async function report(
  text: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  io: Io,
): Promise<number> {
  const source = { name: 'migrated.yaml', path: file, text };
  const draft = await draftPipeline(
    { ...source, isFragment: false },
    { flags: new Map(), env },
    packageBuiltIns(),
  );
  const findings = await checkDraft(draft, { tiers: ['structure', 'meaning'] });
  const reported = findings.filter(({ rule, severity }) => severity === 'error' && rule !== 'R005');
  await printFindings(reported, io);
  return reported.length === 0 ? 0 : 1;
}
