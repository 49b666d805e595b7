import type { Finding } from '../kernel/pipeline/index.js';
import { findFiles, formatFindings, readSources } from '../kernel/check/index.js';
import { suggest, UsageError, type CommandFlag } from '../kernel/options/index.js';
import { showsColor, type Io } from '../program/io.js';
import { readPlainArgs } from '../program/own-flags.js';
import { giveReport } from './give-report.js';
import { junitReport } from './pipeline-test/junit.js';
import { runTestFile, type FileResult } from './pipeline-test/run-file.js';
import { FlagReader } from './queries/settings.js';

const forms = ['text', 'github', 'json', 'junit'] as const;
type Form = (typeof forms)[number];

const flags: readonly CommandFlag[] = [
  { name: 'name', kind: 'string', description: 'run only the test with this name' },
  { name: 'format', kind: 'string', description: `${forms.join(', ')}; default text` },
  {
    name: 'output',
    kind: 'string',
    description: 'output file of the report; text is still printed',
  },
];

const about = `FILE is a file of tests, or a directory whose files *.test.yaml are.
Exit status: 0 all tests passed, 1 some failed, 2 invalid command line. docs/pipeline-tests.md explains the files.
`;

/** Runs tests of pipeline files (docs/pipeline-tests.md). */
export async function test(args: readonly string[], io: Io): Promise<number> {
  const line = readPlainArgs(args, { usage: 'test [flags] FILE...', flags, about }, io);
  if (line === undefined) return 0;
  const { own, positionals } = line;
  const read = new FlagReader(own);
  const form = read.oneOf('format', forms, 'text');
  read.finish();
  const paths = await testFiles(positionals);
  const name = own.get('name');
  const met = new Set<string>();
  const results: FileResult[] = [];
  for (const path of paths)
    results.push(
      await runTestFile(path, (each) => {
        met.add(each);
        return name === undefined || each === name;
      }),
    );
  if (name !== undefined && !met.has(name) && results.every(({ faults }) => faults.length === 0))
    throw new UsageError([unknownName(name, met)]);
  await giveReport((each) => reportOf(results, each, io), { form, output: own.get('output') }, io);
  io.err(summary(results));
  return results.every(hasPassed) ? 0 : 1;
}

function hasPassed({ faults, tests }: FileResult): boolean {
  return faults.length === 0 && tests.every((each) => each.faults.length === 0);
}

async function testFiles(paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) throw new UsageError(['name a file of tests, or a directory with such files']);
  const files = await findFiles(paths);
  const chosen = files.filter(({ file, isNamed }) => isNamed || /\.test\.ya?ml$/i.test(file));
  if (chosen.length === 0) throw new UsageError([`there is no *.test.yaml in ${paths.join(', ')}`]);
  return chosen.map(({ file }) => file);
}

function unknownName(name: string, names: ReadonlySet<string>): string {
  const near = suggest(name, names);
  return `there is no test "${name}"${near === undefined ? '' : `, did you mean "${near}"?`}`;
}

async function reportOf(results: readonly FileResult[], form: Form, io: Io): Promise<string> {
  if (form === 'junit') return junitReport(results);
  const findings = results.flatMap(({ faults, tests }) => [
    ...faults,
    ...tests.flatMap((each) => each.faults),
  ]);
  if (form !== 'text') return formatFindings(findings, form, await readSources(findings));
  const hasColor = showsColor(io);
  const sources = await readSources(findings);
  const textOf = (faults: readonly Finding[]): Promise<string> =>
    formatFindings(faults, 'text', sources, { hasColor });
  const lines: string[] = [];
  for (const { file, faults, tests } of results) {
    if (faults.length > 0) lines.push(`FAIL ${file}\n`, await textOf(faults));
    for (const each of tests)
      lines.push(
        `${each.faults.length === 0 ? 'pass' : 'FAIL'} ${file}: ${each.name}\n`,
        await textOf(each.faults),
      );
  }
  return lines.join('');
}

function summary(results: readonly FileResult[]): string {
  const tests = results.flatMap((result) => result.tests);
  const failed = tests.filter(({ faults }) => faults.length > 0).length;
  const unread = results.filter(({ faults }) => faults.length > 0).length;
  const passed = `${tests.length - failed} of ${tests.length} test${tests.length === 1 ? '' : 's'} passed`;
  return `${passed}${unread === 0 ? '' : `, ${unread} file${unread === 1 ? '' : 's'} cannot be used`}\n`;
}
