/** The choice of the SQLite engine for the disk cache; files of one engine can be read by the other. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { engineNames, loadEngine } from '../../../core/cache/disk-engine/engine.js';
import { eachEngine, withDisk } from './disk-engines.js';
import { answerOf } from './disk-answers.js';
import { fileFor, openTier } from './disk.js';
import { withoutSqlite3 } from './without-sqlite3.js';

const hour = 3_600_000;

eachEngine('what another engine has written is read and written on', async (t, engine) => {
  for (const name of engineNames) {
    const other = (await loadEngine(name)) ?? engine;
    const path = await fileFor(t);
    const first = await openTier({ engine: other, path });
    first.tier.set('a', answerOf(1), hour);
    await first.tier.close();
    const { host } = first;
    const second = await openTier({ engine, path, host });
    second.tier.set('b', answerOf(2), hour);
    await second.tier.close();
    const { tier, told } = await openTier({ engine: other, path, host });
    t.deepEqual(await tier.get('a'), { packed: answerOf(1), leftMs: hour, ageMs: 0 });
    t.deepEqual((await tier.get('b'))?.packed, answerOf(2));
    t.is(told.entries, 2);
    t.deepEqual(host.records, []);
    await tier.close();
  }
});

eachEngine('a statement that fails leaves those behind it alone', async (t, engine) => {
  const path = await fileFor(t);
  const connection = await engine.connect(path);
  await connection.execute('CREATE TABLE numbers (value INTEGER, half, bytes BLOB)');
  const [wrong, right] = await Promise.allSettled([
    connection.all('SELECT nothing FROM nowhere', []),
    connection.run('INSERT INTO numbers VALUES (?, ?, ?), (?, ?, ?)', [
      ...[1_793_491_200_000, 0.5, Buffer.from([0, 255])],
      ...[-1, 7, Buffer.from('b')],
    ]),
  ]);
  t.is(wrong.status, 'rejected');
  t.deepEqual(right, { status: 'fulfilled', value: 2 });
  t.deepEqual(await connection.all('SELECT *, typeof(half) AS type FROM numbers ORDER BY value', []), [
    { value: -1, half: 7, bytes: Buffer.from('b'), type: 'integer' },
    { value: 1_793_491_200_000, half: 0.5, bytes: Buffer.from([0, 255]), type: 'real' },
  ]);
  await connection.close();
  await connection.close();
});

/** Runs the code of a module in a process of its own and returns its output. */
async function inProcess(code: string): Promise<string> {
  const args = ['--input-type=module', '--eval', code];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  return stdout + stderr;
}

const engineModule = new URL('../../../core/cache/disk-engine/engine.js', import.meta.url).href;
/** Starts a proxy with a disk cache and returns its output: a log, or the startup error if no SQLite engine can be loaded. */
async function startWith(path: string, ...flags: readonly string[]): Promise<string> {
  const program = fileURLToPath(new URL('../../../core/program/main.js', import.meta.url));
  const options = ['-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0', '-backend=http://127.0.0.1:9'];
  const child = execFile(process.execPath, [
    ...flags,
    program,
    'serve',
    ...options,
    `-disk-cache-path=${path}`,
  ]);
  let told = '';
  for (const output of [child.stdout, child.stderr])
    output?.on('data', (chunk: string) => {
      told += chunk;
      if (/"disk cache opened"/.test(told)) child.kill();
    });
  await once(child, 'close');
  return told;
}

test('where sqlite3 is not built Node itself serves, and where it cannot the start ends with the commands that help', async (t) => {
  const path = await fileFor(t);
  const hasOwn = (await loadEngine('node:sqlite')) !== undefined;
  const none =
    /-disk-cache-path: cannot use .*: SQLite is not installed: run .*npm run sqlite3.* in the repository or .*npm install sqlite3.* next to the package/;
  t.regex(
    await startWith(path, withoutSqlite3),
    hasOwn ? /"body":"disk cache opened".*"disk_cache.engine":"node:sqlite"/ : none,
  );
  if (hasOwn) t.regex(await startWith(path, withoutSqlite3, '--no-experimental-sqlite'), none);
});

withDisk(test)('neither engine keeps a process alive that has nothing else to do, nor warns', async (t) => {
  const path = await fileFor(t);
  const code = `
import { engineNames, loadEngine } from '${engineModule}';
for (const name of engineNames) {
  const engine = await loadEngine(name);
  const connection = await engine?.connect('${path}-' + name.length);
  await connection?.execute('CREATE TABLE a (b)');
}
console.log('done');`;
  t.is(await inProcess(code), 'done\n');
});
