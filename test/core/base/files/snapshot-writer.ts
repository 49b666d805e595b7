/** Writes a snapshot over and over, each with one more entry, and prints the number of entries after each write. */
import { SnapshotFile } from '../../../../core/base/files/snapshot-file.js';
import type { WrittenEntry } from '../../../../core/base/files/snapshot-json.js';
import { makeHost } from '../../../../core/testing/index.js';

const [path = ''] = process.argv.slice(2);
const { clock, log } = makeHost();
const format = { version: 1, member: 'entries_by_key', depth: 1 } as const;
const file = new SnapshotFile({ flag: '-some-persist-path', path, format, clock, log });
const filler = JSON.stringify('x'.repeat(20_000));

function* entries(count: number): Generator<WrittenEntry> {
  for (let number = 0; number < count; number += 1) yield { names: [`${number} of ${count}`], json: filler };
}

await file.open();
for (let count = 1; ; count += 1) {
  await file.write(entries(count));
  process.stdout.write(`${count}\n`);
}
