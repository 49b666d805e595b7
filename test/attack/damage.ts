import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { diskEngine } from '../../core/cache/disk-engine/engine.js';
import type { Random } from '../watch/random.js';

/**
 * Damages one of the files in a folder, as disks, people and programs do; returns a description, or undefined if there is nothing to
 * damage.
 */
export type Damage = (folder: string, random: Random) => Promise<string | undefined> | string | undefined;

function pick(folder: string, random: Random): string | undefined {
  const files = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isFile());
  const all = files.map(({ name }) => join(folder, name)).sort();
  return all.length === 0 ? undefined : random.pick(all);
}

/** Changes a file in place, because another process may have it open. */
function overwrite(file: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file);
  change(bytes);
  const handle = openSync(file, 'r+');
  writeSync(handle, bytes, 0, bytes.length, 0);
  closeSync(handle);
}

function damaging(name: string, change: (bytes: Buffer, random: Random) => void): Damage {
  return (folder, random) => {
    const file = pick(folder, random);
    if (file === undefined || statSync(file).size === 0) return undefined;
    overwrite(file, (bytes) => change(bytes, random));
    return `${name} ${file}`;
  };
}

const flipped = damaging('bits flipped in', (bytes, random) => {
  for (let times = random.pick([1, 1, 3, 50, 1_000]); times > 0; times -= 1) {
    const at = random.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
  }
});

const zeroed = damaging('zeros in', (bytes, random) => {
  const from = random.below(bytes.length);
  bytes.fill(0, from, Math.min(bytes.length, from + random.pick([1, 64, 4_096, 65_536])));
});

const garbage = damaging('other bytes in', (bytes, random) => {
  const from = random.chance(0.3) ? 0 : random.below(bytes.length);
  const to = Math.min(bytes.length, from + random.pick([16, 4_096, bytes.length]));
  for (let at = from; at < to; at += 1) bytes[at] = random.below(256);
});

const moved = damaging('blocks changed places in', (bytes, random) => {
  const size = random.pick([16, 512, 4_096]);
  if (bytes.length < 2 * size) return;
  const [a, b] = [random.below(bytes.length - size), random.below(bytes.length - size)];
  const held = Buffer.from(bytes.subarray(a, a + size));
  bytes.copyWithin(a, b, b + size);
  held.copy(bytes, b);
});

/**
 * SQLite maps its `-shm` file into memory: if that file is truncated while a process uses it, the kernel kills the process (SIGBUS), which
 * nothing in the process can prevent. So that file is truncated only while no process has it open.
 */
const cutOfRunning: Damage = (folder, random) => cut(folder, random, (file) => !file.endsWith('-shm'));

function cut(
  folder: string,
  random: Random,
  mayBe: (file: string) => boolean = () => true,
): string | undefined {
  const file = pick(folder, random);
  if (file === undefined || !mayBe(file)) return undefined;
  const { size } = statSync(file);
  const handle = openSync(file, 'r+');
  ftruncateSync(handle, random.chance(0.2) ? 0 : random.below(size + 1));
  closeSync(handle);
  return `cut ${file}`;
}

const removed: Damage = (folder, random) => {
  const file = pick(folder, random);
  if (file === undefined) return undefined;
  rmSync(file);
  return `removed ${file}`;
};

const replaced: Damage = (folder, random) => {
  const file = pick(folder, random);
  const other = pick(folder, random);
  if (file === undefined || other === undefined || file === other) return undefined;
  writeFileSync(file, readFileSync(other));
  return `${other} in the place of ${file}`;
};

/** Swaps the names of tenants in text files. */
const renamed: Damage = (folder, random) => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (files.length === 0) return undefined;
  const file = join(folder, random.pick(files));
  const [one, other] = random.pick([
    ['t1', 't2'],
    ['t1', 't3'],
    ['t2', 't3'],
  ] as const);
  const numbers = { t1: '11', t2: '12', t3: '13' };
  const swap = (text: string, a: string, b: string): string =>
    text.replace(new RegExp(`\\b(?:${a}|${b})\\b`, 'g'), (found) => (found === a ? b : a));
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, swap(swap(text, one, other), numbers[one], numbers[other]));
  return `${one} and ${other} changed names in ${file}`;
};

interface AnswerRow {
  readonly id: number;
  readonly key: string;
}

/** Stores answers of one tenant under the keys of another, with the seals of the old or of the new key. */
const swappedAnswers: Damage = async (folder, random) => {
  const file = join(folder, 'answers.db');
  if (!existsSync(file)) return undefined;
  const engine = await diskEngine();
  const database = await engine.connect(file);
  // A file that is already damaged has no readable rows, so nothing changes.
  const rows = await database
    .all<AnswerRow>('SELECT id, key FROM answers ORDER BY id', [])
    .catch((): readonly AnswerRow[] => []);
  const columns = random.chance(0.5) ? ['value', 'seal', 'bytes'] : ['value', 'bytes'];
  let swaps = 0;
  for (const a of rows) {
    const b = rows.length === 0 ? undefined : random.pick(rows);
    if (b === undefined || a.key.split(':', 1)[0] === b.key.split(':', 1)[0]) continue;
    for (const column of columns)
      await database
        .run(
          `UPDATE answers SET ${column} = CASE id WHEN ? THEN (SELECT ${column} FROM answers WHERE id = ?) ELSE (SELECT ${column} FROM answers WHERE id = ?) END WHERE id IN (?, ?)`,
          [a.id, b.id, a.id, a.id, b.id],
        )
        .catch(() => undefined);
    swaps += 1;
  }
  await database.close();
  return swaps === 0 ? undefined : `${swaps} answers changed tenants (${columns.join(', ')}) in ${file}`;
};

/** Damage while no process has the files open. */
export const ofStopped: readonly Damage[] = [
  (folder, random) => cut(folder, random),
  flipped,
  flipped,
  zeroed,
  garbage,
  moved,
  removed,
  replaced,
  renamed,
  renamed,
  swappedAnswers,
  swappedAnswers,
];

/** Damage while a proxy uses the files. */
export const ofRunning: readonly Damage[] = [
  cutOfRunning,
  flipped,
  zeroed,
  garbage,
  moved,
  removed,
  swappedAnswers,
];
