/**
 * To start a process and to load the proxy into it takes longer than most files of tests do. So files share a process, a room: their
 * tests run at the same time, each under a title that no other test has. Rooms are made from what lies in the folders when tests are
 * run, so that no file can be forgotten; only those that cannot bear company are listed.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const filesInRoom = 25;

/** Files and folders that take so long by themselves that they had better run beside the rooms. */
const slow = [
  'clients/',
  'conformance/',
  'contract/',
  'faults/',
  'fleet/',
  'fuzz/',
  'hostile/',
  'overload/',
  'core/program/',
  'core/engine/metric/metric.test',
  'core/engine/metric/count/json.test',
];

/** Files that build the repository anew or follow its recipes: `.ci/run` runs them beside the type check, `npm test` does not wait for them. */
const ofTheRepository = ['house/build.test', 'house/recipes.test'];

/** Others that keep processes of their own, because each of them ... */
const alone = [
  // ... takes a picture of the heap, which is larger in company,
  'plugins/admin/profiles.test',
  // ... waits no longer than a moment,
  'core/http/broken-bodies.test',
  'core/workers/',
  'plugins/backend/metrics-url.test',
  'plugins/backend/odd-answers.test',
  'plugins/peer-cache/peers/',
  // ... measures memory, processor time or the turns of the event loop,
  'core/base/admission/',
  'core/base/memory/',
  'core/base/pace/',
  // ... or hears what the process warns of.
  'plugins/backend/stage.test',
];

/** Whether a file of tests, `test/fuzz/fuzz.test.ts`, takes long. */
export function isSlow(test: string): boolean {
  return [...slow, ...ofTheRepository].some((start) => test.startsWith(`test/${start}`));
}

/**
 * The files for ava to run, from the folder of the package: those that stay alone, and one for each room. Of all tests, or of those that
 * are chosen by the paths of their sources.
 */
export function roomsOf(root: string, chosen?: ReadonlySet<string>): string[] {
  const all = [...testsIn(root, 'dist/test'), ...testsIn(root, 'examples')];
  const sourceOf = (file: string): string => file.replace(/^dist\/(.*)\.js$/, '$1.ts');
  const files = chosen === undefined ? all : all.filter((file) => chosen.has(sourceOf(file)));
  const staysAlone = (file: string): boolean =>
    [...slow, ...alone].some((start) => file.startsWith(`dist/test/${start}`));
  const shared = files.filter((file) => !staysAlone(file));
  const folder = join(root, 'dist/test/rooms');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const rooms: string[] = [];
  for (let from = 0; from < shared.length; from += filesInRoom) {
    const inside = shared.slice(from, from + filesInRoom);
    const room = `dist/test/rooms/${rooms.length + 1}.test.js`;
    writeFileSync(
      join(root, room),
      inside.map((file) => `import '${relative('dist/test/rooms', file)}';\n`).join(''),
    );
    rooms.push(room);
  }
  return [...files.filter(staysAlone), ...rooms];
}

function testsIn(root: string, folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.test.js') && !name.startsWith('rooms'))
    .filter((name) => !ofTheRepository.some((start) => name.startsWith(start)))
    .map((name) => `${folder}/${name}`)
    .sort();
}
