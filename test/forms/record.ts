/**
 * node dist/test/forms/record.js [MAIN.js]: records what a build of the program keeps and tells its peers, into test/data/yesterday. Run it
 * with the last release when its formats are to be what the next one must read.
 */
import { copyFile, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../core/kernel/options/index.js';
import { freePort } from '../core/program/child.js';
import {
  answers,
  files,
  flags,
  inFolder,
  peerFlags,
  recordings,
  serve,
  serveLogs,
  token,
} from './yesterday.js';

const main = process.argv[2];
/** Longer than the intervals at which files are written. */
const writingMs = 1_000;
const hourMs = 3_600_000;

await rm(recordings, { recursive: true, force: true });
await mkdir(recordings, { recursive: true });
const backend = await serveLogs();
await inFolder(async (folder) => {
  const [own, other] = [await freePort(), await freePort()];
  const proxy = await serve(
    'serve',
    [...flags(backend.url, folder), ...peerFlags(own, other)],
    `127.0.0.1:${own}`,
    main,
  );
  const given = await answers(proxy.url);
  await write('answers.json', JSON.stringify(given));
  await write('peer.json', JSON.stringify(await peerAnswers(proxy.url)));
  await pause(writingMs);
  await proxy.stop();
  for (const file of [files.disk, files.patterns, files.labels])
    await copyFile(join(folder, file), join(recordings, file));
});
// As it is written behind a deletion that has ended.
await write(
  files.deletions,
  JSON.stringify({ version: 1, running: [], ended: [['d', Date.UTC(2026, 9, 6)]] }),
);
await backend.stop();
await cp(join(packageRoot(), 'pipelines'), join(recordings, 'pipelines'), { recursive: true });

function write(file: string, text: string): Promise<void> {
  return writeFile(join(recordings, file), `${text}\n`);
}

/** What a peer gets: the values of all keys, in base64, and the snapshots with which a replica starts. */
async function peerAnswers(url: string): Promise<unknown> {
  const headers = { 'x-peer-token': token };
  const hot = (await (await fetch(`${url}/_cache/hot?limit=2000`, { headers })).json()) as HotKeys;
  // The others are of listings up to now, for which nobody asks again.
  const keys = hot.entries.filter((each) => each.remaining_ttl_ms > hourMs).map(({ key }) => key);
  const values: Record<string, string> = {};
  for (const key of [...keys, '__patterns_snapshot:v1', '__label_values_index_snapshot:v1']) {
    const answer = await fetch(`${url}/_cache/get?key=${encodeURIComponent(key)}`, {
      headers: { ...headers, 'accept-encoding': 'identity' },
    });
    if (answer.status === 200) values[key] = Buffer.from(await answer.arrayBuffer()).toString('base64');
  }
  return values;
}

interface HotKeys {
  readonly entries: readonly { readonly key: string; readonly remaining_ttl_ms: number }[];
}
