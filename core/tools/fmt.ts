import { writeFile } from 'node:fs/promises';
import { checkDraft, findFiles, looksLikePipeline, unreadable } from '../kernel/check/index.js';
import { UsageError, type CommandFlag } from '../kernel/options/index.js';
import { formatPipeline } from './format-yaml.js';
import { readYaml } from '../kernel/pipeline/read-yaml.js';
import { readSource, type SourceFile } from '../kernel/pipeline/source.js';
import type { Finding } from '../kernel/pipeline/index.js';
import { printFindings } from '../program/findings.js';
import type { Io } from '../program/io.js';
import { readPlainArgs } from '../program/own-flags.js';

const flags: readonly CommandFlag[] = [
  {
    name: 'check',
    kind: 'boolean',
    description: 'write nothing; list the unformatted files, and exit with 1 if there are any',
  },
];

/** Formats pipeline files in place; with `-check` it only lists those that would change. */
export async function fmt(args: readonly string[], io: Io): Promise<number> {
  const about = 'FILE is a pipeline file or a directory with such files.\n';
  const line = readPlainArgs(args, { usage: 'fmt [flags] FILE...', flags, about }, io);
  if (line === undefined) return 0;
  const { own, positionals } = line;
  if (positionals.length === 0) throw new UsageError(['name a file or a directory to format']);
  const isCheck = own.get('check') === 'true';
  let status = 0;
  for (const { file, isNamed } of await findFiles(positionals)) {
    const source = await readSource(file);
    if ('reason' in source) {
      await printFindings([unreadable(file, source.reason)], io);
      status = 1;
    } else if (isNamed || (!/\.md$/i.test(file) && looksLikePipeline(source.text))) {
      const isFine = await formatOne(source, isCheck, io);
      if (!isFine) status = 1;
    }
  }
  return status;
}

/** True if the file is now formatted, or could be. */
async function formatOne(source: SourceFile, isCheck: boolean, io: Io): Promise<boolean> {
  const findings = await syntaxFindings(source);
  if (findings.length > 0) {
    await printFindings(findings, io);
    return false;
  }
  const text = formatted(source);
  if (text === source.text) return true;
  io.out(`${source.name}${isCheck ? ' is not formatted' : ''}\n`);
  if (!isCheck) await writeFile(source.path, text);
  return !isCheck;
}

function formatted({ name, text }: SourceFile): string {
  try {
    return formatPipeline(text);
  } catch (error) {
    throw new Error(`${name} is unchanged: ${error instanceof Error ? error.message : 'failed'}`, {
      cause: error,
    });
  }
}

/** Syntax errors of a text as YAML; values of variables do not matter. */
function syntaxFindings(source: SourceFile): Promise<readonly Finding[]> {
  const yaml = readYaml(source, {}).problems.filter(({ kind }) => kind !== 'reference');
  const nothing = { sections: new Map(), entries: [], shape: [], schemas: new Map(), files: new Map() };
  const sources = { flags: new Map(), env: {} };
  return checkDraft({ source, sources, yaml, ...nothing }, { tiers: ['structure'] });
}
