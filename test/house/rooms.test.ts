import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { isOfTheRepository, quietRoomOf, testsOfRun } from '../setup/rooms.js';
import { circlesOf, closureOf, readImportGraph, type Edge } from './import-graph.js';

/** The folders of core in layers, from the lowest: each may import only those before it (docs/map.md). */
const rooms = [
  'base',
  'comparison',
  'workers',
  'logql',
  'victoria',
  'wire',
  'kernel',
  'operations',
  'cache',
  'engine',
  'plugin',
  'http',
  'program',
  'tools',
  'testing',
] as const;

const graph = readImportGraph(packageRoot());

/** Returns `core/wire` for `core/wire/answer/types.ts`, `plugins/guard` for `plugins/guard/index.ts`. */
function roomOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

function shown({ from, to }: Edge): string {
  return `${from} -> ${to}`;
}

/** Imports from a file of one kind to a file of another. */
function imports(from: (file: string) => boolean, to: (file: string) => boolean): readonly string[] {
  return graph.edges.filter((edge) => from(edge.from) && to(edge.to)).map(shown);
}

function isIn(...folders: readonly string[]): (file: string) => boolean {
  return (file) => folders.some((folder) => file.startsWith(`${folder}/`));
}

test('the graph of imports is read', (t) => {
  t.true(graph.files.length > 500);
  t.true(graph.edges.length > 2000);
});

test('no files import each other in a circle, types included', (t) => {
  t.deepEqual(circlesOf(graph.edges), []);
});

test('circles are found', (t) => {
  const edges = ['ab', 'bc', 'ca', 'cd', 'de'].map(([from = '', to = '']) => ({ from, to }));
  t.deepEqual(circlesOf(edges), [['a', 'b', 'c']]);
});

test('each room of core stands on those below it', (t) => {
  const known: readonly string[] = rooms.map((room) => `core/${room}`);
  const inCore = [...new Set(graph.files.filter(isIn('core')).map(roomOf))].sort();
  t.deepEqual(inCore, [...known].sort());
  const upwards = graph.edges.filter(
    ({ from, to }) => isIn('core')(from) && known.indexOf(roomOf(from)) < known.indexOf(roomOf(to)),
  );
  t.deepEqual(upwards.map(shown), []);
});

test('the map shows the rooms in their order', (t) => {
  const map = readFileSync(join(packageRoot(), 'docs/map.md'), 'utf8');
  const listed = [...map.matchAll(/^\| `core\/(?<room>\w+)` \|/gm)].map(({ groups }) => groups?.['room']);
  t.deepEqual(listed, [...rooms]);
});

test('core imports no plugin, and no plugin another one', (t) => {
  // Developer tools run the embedded backend.
  const known = imports(isIn('core'), isIn('plugins'));
  t.deepEqual(
    known.filter((edge) => !/^core\/tools\/.* -> plugins\/embedded-backend\/dev-backend\.ts$/.test(edge)),
    [],
  );
  const across = graph.edges.filter(
    ({ from, to }) => isIn('plugins')(from) && isIn('plugins')(to) && roomOf(from) !== roomOf(to),
  );
  t.deepEqual(across.map(shown), []);
});

test('the kernel knows no LogQL and no engine', (t) => {
  const known = imports(isIn('core/kernel'), isIn('core/logql', 'core/engine', 'core/operations'));
  // An option may be a regular expression, and the RE2 parser is independent of LogQL.
  t.deepEqual(
    known.filter((edge) => !edge.endsWith(' -> core/logql/regexp/index.ts')),
    [],
  );
});

test('the library ref-proxy/logql loads nothing but LogQL and what is below it', (t) => {
  const loaded = [...closureOf(graph, 'core/logql/index.ts')];
  t.deepEqual(
    loaded.filter((file) => !isIn('core/logql', 'core/base')(file)),
    [],
  );
});

test('a proxy in production loads no embedded backend, no page, no developer tool and no test kit', (t) => {
  const apart = isIn('plugins/embedded-backend', 'plugins/ui', 'core/tools', 'core/testing');
  const production = graph.files.filter(isIn('plugins')).filter((file) => !apart(file));
  for (const start of ['core/program/main.ts', 'core/program/serve.ts', ...production]) {
    t.deepEqual([...closureOf(graph, start)].filter(apart), [], start);
  }
});

test('the graph follows a file into the threads that it starts', (t) => {
  const threads = ['core/engine/metric/threads/worker.ts', 'core/logql/lines/worker.ts'];
  const loaded = new Set(graph.files.filter(isIn('plugins')).flatMap((file) => [...closureOf(graph, file)]));
  t.deepEqual(
    threads.filter((file) => !loaded.has(file)),
    [],
  );
});

test('in a quiet room one test runs after another', (t) => {
  const folder = join(packageRoot(), 'test');
  const quiet = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && quietRoomOf(file) >= 0,
  );
  t.true(quiet.length > 50);
  t.deepEqual(
    quiet.filter((file) => /^\s*test\(/m.test(readFileSync(join(folder, file), 'utf8'))),
    [],
  );
});

test('npm test and a deep run have all tests between them', (t) => {
  const root = packageRoot();
  const [usual, deep] = [testsOfRun(root, false), testsOfRun(root, true)];
  const all = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file}`);
  t.deepEqual(
    all.filter((file) => !usual.has(file) && !deep.has(file) && !isOfTheRepository(file)),
    [],
  );
  t.true(deep.has('test/fleet/fleet.test.ts') && !usual.has('test/fleet/fleet.test.ts'));
  t.true(usual.size > 400 && deep.size < all.length / 3, `${usual.size} and ${deep.size} of ${all.length}`);
});

test('only a file of tests decides how much a run tries, so that a deep run knows which these are', (t) => {
  const sources = readdirSync(join(packageRoot(), 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => readFileSync(join(packageRoot(), 'test', file), 'utf8').includes("setup/runs.js'"));
  t.deepEqual(sources, []);
});
