/** Selects the test files for `npm run test:fast`; CONTRIBUTING.md describes the rule. */
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { importedPath, importsOf, sourcesIn } from './sources.js';

const maxFiles = 40;

/** Paths in the package: TypeScript sources and tests with their imports, and the changed files. */
export interface Change {
  readonly imports: ReadonlyMap<string, readonly string[]>;
  readonly changed: readonly string[];
  /** True for suites that are too slow, unless they or sources of their folder have changed. */
  readonly isSlow: (test: string) => boolean;
}

/** The tests closest to a change, and the tests of code rules, which any change may break. */
export function testsNear({ imports, changed, isSlow }: Change): ReadonlySet<string> {
  const tests = [...imports.keys()].filter((file) => file.endsWith('.test.ts'));
  const distance = distancesTo(changed, imports);
  const own = new Set(changed.flatMap((source) => mirrored(source, tests)));
  for (const test of own) distance.set(test, Math.min(distance.get(test) ?? 1, 1));
  const isWanted = (test: string): boolean => own.has(test) || distance.get(test) === 0 || !isSlow(test);
  const near = tests.filter((test) => distance.has(test) && isWanted(test));
  const rank = (test: string): number => distance.get(test) ?? Infinity;
  near.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const rules = tests.filter((test) => test.startsWith('test/house/') && isWanted(test));
  return new Set([...near.slice(0, maxFiles), ...rules]);
}

/** The number of imports from each file to the nearest changed one. */
function distancesTo(
  changed: readonly string[],
  imports: ReadonlyMap<string, readonly string[]>,
): Map<string, number> {
  const importers = new Map<string, string[]>();
  for (const [from, all] of imports)
    for (const to of all) importers.set(to, [...(importers.get(to) ?? []), from]);
  const distance = new Map(changed.filter((file) => imports.has(file)).map((file) => [file, 0]));
  for (const [file, steps] of distance)
    for (const from of importers.get(file) ?? []) if (!distance.has(from)) distance.set(from, steps + 1);
  return distance;
}

/** The tests in the folder of a source below `test`, or in its nearest parent folder that has any. */
function mirrored(source: string, tests: readonly string[]): readonly string[] {
  const schema = /^schemas\/(.+)\.schema\.json$/.exec(source)?.[1];
  const path = schema === undefined ? source : `plugins/${schema}/index.ts`;
  if (!/^(?:core|plugins)\//.test(path)) return [];
  for (let folder = dirname(path); folder.includes('/'); folder = dirname(folder)) {
    const found = tests.filter((test) => dirname(test) === `test/${folder}`);
    if (found.length > 0) return found;
  }
  return [];
}

/** Reads the change from git: the difference from the merge base with the reference, or the last commit if there is none. */
export function readChange(root: string, reference: string, isSlow: (test: string) => boolean): Change {
  const git = (...args: readonly string[]): readonly string[] =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  const [base = 'HEAD'] = git('merge-base', 'HEAD', reference);
  const untracked = git('ls-files', '--others', '--exclude-standard');
  const changed = [...git('diff', '--name-only', base), ...untracked];
  return {
    imports: readImports(root),
    changed: changed.length > 0 ? changed : git('diff', '--name-only', 'HEAD~1'),
    isSlow,
  };
}

function readImports(root: string): ReadonlyMap<string, readonly string[]> {
  const files = sourcesIn(root, ['core', 'plugins', 'test']).filter((file) => /\.tsx?$/.test(file));
  return new Map(
    files.map((file) => [
      file,
      importsOf(root, file).flatMap((specifier) => importedPath(file, specifier) ?? []),
    ]),
  );
}
