/**
 * To start a process and to load the proxy into it takes longer than most files of tests do. So files share a process, a room: their
 * tests run at the same time, each under a title that no other test has, or one after another in a quiet room. Rooms are made from what
 * lies in the folders when tests are run, so that no file can be forgotten.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const filesInRoom = 25;

/**
 * Rooms of those that do not bear company: of all files whose paths begin so, one test runs after another (each is a `test.serial`).
 * Such files keep many processes or whole corpora, measure memory, processor time or turns of the event loop, or wait no longer than a
 * moment. A file belongs to the first room that fits, and rooms are about as long as the longest file. These take so long that
 * `npm run test:fast` leaves them out unless they are what was changed.
 */
const slowRooms: readonly (readonly string[])[] = [
  ['conformance/conformance.test'],
  ['faults/'],
  ['fleet/'],
  ['conformance/'],
  ['doors/'],
  ['core/program/workers'],
  ['core/program/', 'core/tools/', 'reload/', 'core/http/hooks.test'],
  ['attack/'],
  ['clients/', 'contract/', 'fuzz/', 'hostile/', 'overload/'],
  ['core/engine/metric/metric.test', 'core/engine/metric/count/json.test'],
];

/** Slow ones first. */
const quietRooms: readonly (readonly string[])[] = [
  ...slowRooms,
  ['plugins/peer-cache/peers/', 'plugins/delete/law.test'],
  [
    ...['core/base/admission/', 'core/base/memory/', 'core/base/pace/'],
    ...['core/http/broken-bodies.test', 'core/workers/'],
  ],
  [
    ...['plugins/backend/metrics-url.test', 'plugins/backend/odd-answers.test', 'plugins/backend/stage.test'],
    // A scrape goes on without figures that take more than a second to read.
    'core/kernel/telemetry/process-metrics.test',
    // What it asks moves every metric, so each count must come in its time.
    'core/kernel/telemetry/specified.test',
    'plugins/backend/statistics.test',
  ],
  // Reads of a healthy backend must end within the seconds after which others are given up.
  ['plugins/window-split/faults.test', 'core/engine/fields/slow-scan.test'],
  // It takes a picture of the heap, which is larger in company.
  ['plugins/admin/profiles.test'],
];

/** Files that build the repository anew or follow its recipes: `.ci/run` runs them beside the type check, `npm test` does not wait for them. */
const ofTheRepository = ['house/build.test', 'house/recipes.test'];

/** Whether a file of tests, `test/fuzz/fuzz.test.ts`, takes long. */
export function isSlow(test: string): boolean {
  return [...slowRooms.flat(), ...ofTheRepository].some((start) => test.startsWith(`test/${start}`));
}

/**
 * The files for ava to run, from the folder of the package: one for each room, the quiet ones first because they are the longest. Of all
 * tests, or of those that are chosen by the paths of their sources.
 */
export function roomsOf(root: string, chosen?: ReadonlySet<string>): string[] {
  const all = testsIn(root, 'dist/test');
  const sourceOf = (file: string): string => file.replace(/^dist\/(.*)\.js$/, '$1.ts');
  const files = chosen === undefined ? all : all.filter((file) => chosen.has(sourceOf(file)));
  const quiet = quietRooms.map((): string[] => []);
  const shared: string[] = [];
  for (const file of files) (quiet[quietRoomOf(relative('dist/test', file))] ?? shared).push(file);
  const rooms = quiet.filter((inside) => inside.length > 0);
  for (let from = 0; from < shared.length; from += filesInRoom)
    rooms.push(shared.slice(from, from + filesInRoom));
  const folder = join(root, 'dist/test/rooms');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return rooms.map((inside, index) => {
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

function testsIn(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.test.js') && !name.startsWith('rooms'))
    .filter((name) => !ofTheRepository.some((start) => name.startsWith(start)))
    .map((name) => `${folder}/${name}`)
    .sort();
}
