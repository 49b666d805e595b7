/**
 * The first step of `npm test`: builds the package sqlite3 unless it is built already (`npm ci` leaves it unbuilt). With `--beside` the
 * build runs in a process of its own, and the tests that need sqlite3 wait for it. If the build fails, these tests print that they are not
 * run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { loadEngine } from '../../../core/cache/disk-engine/engine.js';
import { buildEnded, buildRuns, noBuildRuns } from './running-build.js';

const progressMs = 10_000;
/** The build steps that node-gyp prints between the warnings of compilers. */
const stepOfMake = /^\s*(?:ACTION|AR|CC|COPY|CXX|SOLINK|TOUCH)\b/;
/**
 * Compiling SQLite takes a minute, or a few minutes on a busy machine. Finding out that no prebuilt file can be fetched should be faster.
 */
const compileWithinMs = 30 * 60_000;
const fetchWithinMs = 30_000;

/**
 * Compiler flags that cut the build time to a third: the result is slower than it could be and has no full-text search, which the proxy
 * does not use. `npm run sqlite3` by itself builds with the flags of the package.
 */
const forTests = {
  CFLAGS: '-O1 -USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS4 -USQLITE_ENABLE_FTS5 -USQLITE_ENABLE_RTREE',
  CXXFLAGS: '-O0',
  JOBS: 'max',
};

const isBeside = process.argv.includes('--beside');
if (isBeside) noBuildRuns();
if ((await loadEngine('sqlite3')) === undefined)
  if (isBeside) buildBeside();
  else await build();

function buildBeside(): void {
  const { pid } = spawn(process.execPath, [fileURLToPath(import.meta.url)], { stdio: 'inherit' });
  if (pid !== undefined) buildRuns(pid);
  process.exit();
}

async function build(): Promise<void> {
  process.once('exit', buildEnded);
  const missing = missingTools();
  console.log(
    missing.length === 0
      ? 'sqlite3 is not built yet: npm fetches a built file, or compiles SQLite in about a minute; this is done once'
      : `sqlite3 is not built yet: npm tries to fetch a built file for up to ${fetchWithinMs / 1000} s; to compile SQLite there is no ${missing.join(', no ')} here`,
  );
  const startMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - startMs) / 1000);
  const npm = spawn('npm', ['run', '-s', 'sqlite3'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...forTests, ...process.env },
  });
  const timer = setTimeout(() => npm.kill(), missing.length === 0 ? compileWithinMs : fetchWithinMs);
  let last = '';
  for (const input of [npm.stdout, npm.stderr])
    createInterface({ input }).on('line', (line) => {
      if (stepOfMake.test(line)) last = line.trim();
    });
  const progress = setInterval(
    () => console.log(`  sqlite3: ${seconds()} s: ${last.slice(0, 100)}`),
    progressMs,
  );
  const [code] = (await once(npm, 'exit')) as readonly unknown[];
  clearTimeout(timer);
  clearInterval(progress);
  console.log(
    code === 0
      ? `sqlite3 is built, after ${seconds()} s`
      : 'sqlite3 could not be built: the tests that need it are not run, and npm run sqlite3 says why',
  );
  // Child processes of npm may still wait for the network.
  process.exit();
}

/** The tools for compiling that this machine lacks. */
function missingTools(): readonly string[] {
  const choices = [
    [process.env['CXX'] ?? 'c++', 'g++', 'clang++'],
    ['make', 'gmake'],
    ['python3', 'python'],
  ];
  return choices.filter((names) => !names.some(isThere)).map(([name = '']) => name);
}

function isThere(program: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
