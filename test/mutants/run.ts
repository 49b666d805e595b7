/**
 * `npm run mutants [-- --room=NAME]`: with Stryker, mutates one expression at a time in rooms where a wrong line gives wrong answers
 * without an
 * error, and runs the tests that must detect it. Prints the mutants that no test detected, and exits with 1 if one of them is not explained
 * (explained.ts) or if they are 3 % or more.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { packageRoot } from '../../core/kernel/options/index.js';
import { explained, type ExplainedMutant } from './explained.js';
import { linesOf, mutatedRooms, type MutatedRoom } from './rooms.js';

type Result = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const { room: only, concurrency } = await yargs(hideBin(process.argv))
  .options({
    room: {
      type: 'string',
      choices: mutatedRooms.map(({ name }) => name),
      describe: 'mutate this room only',
    },
    concurrency: { type: 'number', default: 2, describe: 'test runs at once' },
  })
  .strict()
  .parseAsync();

/** The share of mutants that may survive. */
const mostSurvivors = 0.03;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

let mutants = 0;
let survivors = 0;
let unexplained = 0;
for (const room of mutatedRooms.filter(({ name }) => only === undefined || name === only)) {
  const results = await mutate(room);
  const survived = results.filter(({ status }) => status === 'Survived');
  print(`${room.name}: ${survived.length} of ${results.length} mutants survived`);
  for (const mutant of survived) {
    const reason = explained.find((known) => isSame(known, mutant))?.reason;
    if (reason === undefined) unexplained += 1;
    print(`  ${placeOf(mutant)} ${mutant.mutatorName}: ${mutant.replacement} (${reason ?? 'NOT EXPLAINED'})`);
  }
  mutants += results.length;
  survivors += survived.length;
}
print(`${survivors} of ${mutants} mutants survived, ${unexplained} of them are not explained`);
process.exitCode = unexplained > 0 || survivors >= mutants * mostSurvivors ? 1 : 0;

/** Runs the tests of a room once for each of its mutants. Rejects if they fail without a mutation. */
async function mutate({ name, sources, tests }: MutatedRoom): Promise<readonly Result[]> {
  const root = packageRoot();
  const files = [...new Set(sources.map((source) => source.replace(/#.*$/, '')))];
  // In one process, the tests of a room take half the time.
  const together = `dist/test/mutants/${name}.test.js`;
  writeFileSync(join(root, together), tests.map((test) => `import '../${test}.test.js';\n`).join(''));
  const results = await new Stryker({
    mutate: sources.map(linesOf),
    testRunner: 'command',
    commandRunner: {
      // A mutant may fill the heap in an endless loop. Property tests run with all their samples.
      command: `TEST_DEEP=1 node ${join(root, 'node_modules/ava/entrypoints/cli.mjs')} --fail-fast --node-arguments=--max-old-space-size=512 ${together}`,
    },
    buildCommand: `esbuild ${files.join(' ')} --format=esm --outbase=. --outdir=dist --log-level=warning`,
    plugins: [join(root, 'dist/test/mutants/texts.js')],
    ignorers: ['texts'],
    coverageAnalysis: 'off',
    concurrency,
    timeoutMS: 20_000,
    reporters: ['progress-append-only'],
    // Inside the package, so that node_modules is found.
    tempDirName: 'dist/.mutants',
    ignorePatterns: ['dist/.mutants', 'dist/.lint', 'docs', 'deploy', 'examples'],
  })
    .runMutationTest()
    .finally(() => rmSync(join(root, together), { force: true }));
  return results.filter(({ status }) => status !== 'Ignored' && status !== 'CompileError');
}

function isSame(known: ExplainedMutant, { fileName, location, replacement }: Result): boolean {
  if (!fileName.endsWith(known.file) || replacement !== known.replacement) return false;
  const { start, end } = location;
  const line = readFileSync(fileName, 'utf8').split('\n')[start.line - 1] ?? '';
  return line.trim() === known.line && line.slice(start.column - 1, end.column - 1) === known.broken;
}

function placeOf({ fileName, location }: Result): string {
  return `${relative(packageRoot(), fileName)}:${location.start.line}:${location.start.column}`;
}
