/** A process that writes snapshots until it is killed; after each it prints how often the values in it have been seen. */
import { keyOf, makeIndex, openFile } from './made.js';
import { written } from './written.js';

const made = makeIndex();
const { file } = await openFile(made, process.argv[2] ?? '');
const key = keyOf('pod');
const signal = new AbortController().signal;
for (;;) {
  await made.learn(key, written);
  await file.write();
  const page = await made.index.browse(key, { limit: 1 }, signal);
  process.stdout.write(`${page?.heat[0]?.seen ?? 0}\n`);
}
