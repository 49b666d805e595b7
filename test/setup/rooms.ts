/**
 * To start a process and to load the proxy into it takes longer than most files of tests do. So files share a process, a room: their
 * tests run at the same time, each under a title that no other test has, or one after another in a quiet room. Rooms are made from what
 * lies in the folders when tests are run, so that no file can be forgotten.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** More of them starve each other: timeouts of seconds pass while all begin. */
const filesInRoom = 36;

/**
 * The slow suites: processes that are killed, starved and stopped, fleets, attacks, reload loops, clients, developer tools. `npm test` leaves
 * them to `npm run test:deep`, a step of `.ci/run full`. They are rooms like those below.
 */
const deepRooms: readonly (readonly string[])[] = [
  ['faults/', 'forms/'],
  ['core/program/workers'],
  ['core/program/shutdown.test', 'core/program/heap.test'],
  ['fleet/'],
  ['core/program/configuration.test', 'core/program/node-version.test', 'core/program/peer-flags.test'],
  ['core/program/survival.test', 'core/program/data-dir.test', 'core/program/descriptors.test'],
  [
    'hostile/',
    'house/files-passed.test',
    'plugins/peer-cache/peers/processes.test',
    'plugins/delete/law.test',
  ],
  ['reload/', 'core/http/hooks.test'],
  ['attack/'],
  [
    ...['conformance/history.test', 'conformance/split.test', 'core/cache/disk-kill.test'],
    ...['core/cache/label-index/snapshot-kill.test', 'core/base/files/snapshot-kill.test'],
  ],
  ['fuzz/', 'audit/', 'mutations/editor-schema.test', 'clients/faults.test', 'plugins/demo-data/'],
  ['plugins/peer-cache/peers/faulty-peers.test', 'plugins/backend/odd-answers.test'],
  ['clients/'],
  ['core/base/memory/estimates.test', 'core/base/memory/heap.test', 'plugins/admin/profiles.test'],
  ['core/program/npm.test', 'core/kernel/telemetry/otlp/push-of-workers.test'],
  ['core/tools/'],
];

/**
 * Rooms of those that do not bear company: of all files whose paths begin so, one test runs after another (each is a `test.serial`).
 * Such files keep many processes or whole corpora, measure memory, processor time or turns of the event loop, or wait no longer than a
 * moment. A file belongs to the first room that fits, and rooms are about as long as the longest file. These take so long that
 * `npm run test:fast` leaves them out unless they are what was changed.
 */
const slowRooms: readonly (readonly string[])[] = [
  ...deepRooms,
  ['conformance/conformance.test'],
  ['core/program/'],
  ['doors/', 'conformance/'],
  [
    ...['contract/', 'overload/'],
    ...['core/engine/metric/metric.test', 'core/engine/metric/count/json.test'],
  ],
];

/** Slow ones first. */
const quietRooms: readonly (readonly string[])[] = [
  ...slowRooms,
  ['plugins/peer-cache/peers/'],
  [
    ...['core/base/admission/', 'core/base/memory/', 'core/base/pace/'],
    ...['core/http/broken-bodies.test', 'core/workers/'],
    ...['plugins/backend/metrics-url.test', 'plugins/backend/stage.test'],
    // A scrape goes on without figures that take more than a second to read.
    'core/kernel/telemetry/process-metrics.test',
    // What it asks moves every metric, so each count must come in its time.
    'core/kernel/telemetry/specified.test',
    'plugins/backend/statistics.test',
  ],
  // Reads of a healthy backend must end within the seconds after which others are given up.
  ['plugins/window-split/faults.test', 'core/engine/fields/slow-scan.test'],
];

/** Files that build the repository anew or follow its recipes: `.ci/run` runs them beside the type check, `npm test` does not wait for them. */
const ofTheRepository = ['house/build.test', 'house/recipes.test'];

/** True if a test file, such as `test/house/build.test.ts`, is one of them. */
export function isOfTheRepository(test: string): boolean {
  return ofTheRepository.some((start) => test.startsWith(`test/${start}`));
}

/** True if a test file, such as `test/fuzz/fuzz.test.ts`, is slow. */
export function isSlow(test: string): boolean {
  return isOfTheRepository(test) || slowRooms.flat().some((start) => test.startsWith(`test/${start}`));
}

/** The test files of `npm test`, or of a deep run: the slow suites, and the files that take a larger sample there. */
export function testsOfRun(root: string, isDeep: boolean): ReadonlySet<string> {
  const triesMore = /from ['"][./]+\/setup\/runs\.js['"]/;
  const isOfRun = (file: string): boolean => {
    const room = quietRoomOf(relative('dist/test', file));
    const isDeepRoom = room >= 0 && room < deepRooms.length;
    return isDeep ? isDeepRoom || triesMore.test(readFileSync(join(root, file), 'utf8')) : !isDeepRoom;
  };
  return new Set(testsIn(root, 'dist/test').filter(isOfRun).map(sourceOf));
}

/**
 * The files for ava to run, from the folder of the package: one for each room, the quiet ones first because they are the longest. The tests
 * are chosen by the paths of their sources.
 */
export function roomsOf(root: string, chosen: ReadonlySet<string>): string[] {
  const files = testsIn(root, 'dist/test').filter((file) => chosen.has(sourceOf(file)));
  const quiet = quietRooms.map((): string[] => []);
  const shared: string[] = [];
  for (const file of files) (quiet[quietRoomOf(relative('dist/test', file))] ?? shared).push(file);
  // Neighbours are alike, so they are dealt out: shared rooms take about the same time.
  const sharedRooms = Math.ceil(shared.length / filesInRoom);
  const dealt = Array.from({ length: sharedRooms }, (_none, room) =>
    shared.filter((_file, index) => index % sharedRooms === room),
  );
  const rooms = [...quiet, ...dealt];
  const folder = join(root, 'dist/test/rooms');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return rooms
    .filter((inside) => inside.length > 0)
    .map((inside, index) => {
      const room = `dist/test/rooms/${String(index + 1).padStart(2, '0')}.test.js`;
      writeFileSync(
        join(root, room),
        inside.map((file) => `import '${relative('dist/test/rooms', file)}';\n`).join(''),
      );
      return room;
    });
}

/** The number of the quiet room that a file such as `fuzz/fuzz.test.js` belongs to, -1 for those that share. */
export function quietRoomOf(file: string): number {
  return quietRooms.findIndex((starts) => starts.some((start) => file.startsWith(start)));
}

/** `test/fuzz/fuzz.test.ts` of `dist/test/fuzz/fuzz.test.js`. */
function sourceOf(file: string): string {
  return file.replace(/^dist\/(.*)\.js$/, '$1.ts');
}

function testsIn(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.test.js') && !name.startsWith('rooms'))
    .filter((name) => !isOfTheRepository(`test/${name}`))
    .map((name) => `${folder}/${name}`)
    .sort();
}
