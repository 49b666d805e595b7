import { parseArgs } from 'node:util';
import {
  checkFiles,
  findFiles,
  formatFindings,
  formats,
  isFormat,
  readSources,
  thisMachine,
  type Format,
} from '../kernel/check/index.js';
import { UsageError } from '../kernel/options/index.js';
import type { Finding } from '../kernel/pipeline/index.js';
import { printPipeline } from './print-pipeline.js';
import { readSource } from '../kernel/pipeline/source.js';
import { showsColor, type Io } from '../program/io.js';

const usage = `Usage: ref-proxy check [--env] [--strict] [--format=${formats.join('|')}] FILE...

Checks pipeline files: FILE is a YAML file, a Markdown file (its yaml blocks that contain a pipeline) or a directory with such files.

  --env      also checks this machine: files are readable and writable, backends healthy, ports free
  --format   ${formats.join(', ')}; the default is text
  --strict   warnings count as errors
  --print    prints the pipeline of one file with all includes inserted
  --help     shows this help

Exit status: 0 the proxy would start (with or without warnings), 1 errors, or warnings with --strict, 2 invalid command line. docs/checker.md explains every rule.
`;

/** Runs `ref-proxy check` with the arguments after the command name. Returns the exit status. */
export async function runCheck(argv: readonly string[], io: Io): Promise<0 | 1 | 2> {
  try {
    const command = readArguments(argv);
    if (command === 'help') {
      io.out(usage);
      return 0;
    }
    return await check(command, io);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    for (const problem of error.problems) io.err(`ref-proxy check: ${problem}\n`);
    return 2;
  }
}

interface CheckCommand {
  readonly paths: readonly string[];
  readonly format: Format;
  readonly looksAround: boolean;
  readonly isStrict: boolean;
  readonly prints: boolean;
}

async function check(command: CheckCommand, io: Io): Promise<0 | 1> {
  const findings = await checkFiles(command.paths, {
    sources: { flags: new Map(), env: io.env },
    ...(command.looksAround ? { surroundings: thisMachine } : {}),
  });
  const hasColor = showsColor(io);
  const report = await formatFindings(findings, command.format, await readSources(findings), { hasColor });
  (command.prints ? io.err : io.out)(report);
  if (command.prints) return printWhole(command.paths, findings, io);
  if (command.format === 'text') io.err(await summary(findings, command.paths));
  return findings.some(({ severity }) => command.isStrict || severity === 'error') ? 1 : 0;
}

/** Prints the pipeline as one text, unless errors make that impossible. */
async function printWhole(paths: readonly string[], findings: readonly Finding[], io: Io): Promise<0 | 1> {
  const [path = '', ...others] = paths;
  if (others.length > 0) throw new UsageError(['--print takes one file']);
  const isReadable = !findings.some(({ rule }) => wholeText.has(rule));
  const source = await readSource(path);
  if (!isReadable || 'reason' in source) return 1;
  io.out(await printPipeline(source));
  return findings.some(({ severity }) => severity === 'error') ? 1 : 0;
}

/** Rules about the texts of files and their includes. */
const wholeText: ReadonlySet<string> = new Set(['R001', 'R002', 'R003', 'R004', 'R010']);

async function summary(findings: readonly unknown[], paths: readonly string[]): Promise<string> {
  const files = (await findFiles(paths)).length;
  return `${counted(files, 'file')} checked, ${findings.length === 0 ? 'no findings' : counted(findings.length, 'finding')}\n`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** Parses the arguments; flags also work with one dash, like all flags of the proxy. */
function readArguments(argv: readonly string[]): CheckCommand | 'help' {
  const args = argv.map((arg) => (/^-[a-z]{2}/.test(arg) ? `-${arg}` : arg));
  const { values, positionals } = parse(args);
  if (values.help === true) return 'help';
  const format = values.format ?? 'text';
  if (!isFormat(format))
    throw new UsageError([`--format must be one of ${formats.join(', ')}, not "${format}"`]);
  if (positionals.length === 0)
    throw new UsageError(['name a file or a directory to check; --help explains']);
  return {
    paths: positionals,
    format,
    looksAround: values.env === true,
    isStrict: values.strict === true,
    prints: values.print === true,
  };
}

function parse(args: readonly string[]): {
  readonly values: {
    readonly env?: boolean;
    readonly strict?: boolean;
    readonly print?: boolean;
    readonly help?: boolean;
    readonly format?: string;
  };
  readonly positionals: readonly string[];
} {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        env: { type: 'boolean' },
        strict: { type: 'boolean' },
        print: { type: 'boolean' },
        format: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError([error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)]);
  }
}
