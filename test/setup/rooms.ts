/**
 * Starting a process and loading the proxy takes longer than most test files do. So files share a process, a room: their tests run
 * concurrently, each with a unique title, or one after another in a quiet room. Rooms are built from the folders at each run, so no file
 * can
 * be forgotten.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** With more files, the tests starve each other: timeouts of several seconds pass while all start. */
const filesInRoom = 36;

/**
 * The slow suites: processes that are killed, starved and stopped, fleets, attacks, reload loops, clients, developer tools. `npm test`
 * leaves
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
 * Rooms for files that cannot run next to others: the tests of all files whose paths have one of these prefixes run one after another (each
 * is a `test.serial`). Such files run many processes, load large data sets, measure memory, CPU time or event loop delays, or use very
 * short
 * timeouts. A file belongs to the first matching room, and rooms take about as long as the longest file. These are so slow that
 * `npm run test:fast` leaves them out unless they have changed.
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

/** The slow rooms come first. */
const quietRooms: readonly (readonly string[])[] = [
  ...slowRooms,
  ['plugins/peer-cache/peers/'],
  [
    ...['core/base/admission/', 'core/base/memory/', 'core/base/pace/'],
    ...['core/http/broken-bodies.test', 'core/workers/'],
    ...['plugins/backend/metrics-url.test', 'plugins/backend/stage.test'],
    // A scrape skips metrics that take more than a second to read.
    'core/kernel/telemetry/process-metrics.test',
    // Its requests change every metric, so each count must be read at the right time.
    'core/kernel/telemetry/specified.test',
    'plugins/backend/statistics.test',
  ],
  // Reads of a healthy backend must end before the timeout of a few seconds that ends other reads.
  ['plugins/window-split/faults.test', 'core/engine/fields/slow-scan.test'],
];

/** Files that rebuild the repository or follow its recipes: `.ci/run` runs them in addition to the type check; `npm test` skips them. */
const ofTheRepository = ['house/build.test', 'house/recipes.test'];

/** True for a test file, such as `test/house/build.test.ts`, that only `.ci/run` runs. */
export function isOfTheRepository(test: string): boolean {
  return ofTheRepository.some((start) => test.startsWith(`test/${start}`));
}

/** True for a slow test file, such as `test/fuzz/fuzz.test.ts`. */
export function isSlow(test: string): boolean {
  return isOfTheRepository(test) || slowRooms.flat().some((start) => test.startsWith(`test/${start}`));
}

/** The test files of `npm test`, or of a deep run: the slow suites, and files that take a larger sample in a deep run. */
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
 * The files for ava to run, relative to the package folder: one per room, with the quiet rooms first because they are the longest. Tests
 * are
 * selected by the paths of their sources.
 */
export function roomsOf(root: string, chosen: ReadonlySet<string>): string[] {
  const files = testsIn(root, 'dist/test').filter((file) => chosen.has(sourceOf(file)));
  const quiet = quietRooms.map((): string[] => []);
  const shared: string[] = [];
  for (const file of files) (quiet[quietRoomOf(relative('dist/test', file))] ?? shared).push(file);
  // Files in the same folder are alike, so they are distributed: shared rooms take about the same time.
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

/** The index of the quiet room for a file such as `fuzz/fuzz.test.js`, -1 for files in shared rooms. */
export function quietRoomOf(file: string): number {
  return quietRooms.findIndex((starts) => starts.some((start) => file.startsWith(start)));
}

/** Returns `test/fuzz/fuzz.test.ts` for `dist/test/fuzz/fuzz.test.js`. */
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
