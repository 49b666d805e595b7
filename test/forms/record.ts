/**
 * node dist/test/forms/record.js [MAIN.js]: records the files of a build of the program, and the data that it sends to peers, in
 * test/data/yesterday. Run it with the latest release when the next one must be able to read its formats.
 */
import { copyFile, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
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
  serveRecordedLogs,
  token,
} from './yesterday.js';

const main = process.argv[2];
/** Longer than the intervals at which files are written. */
const writingMs = 1_000;
const hourMs = 3_600_000;

await rm(recordings, { recursive: true, force: true });
await mkdir(recordings, { recursive: true });
const backend = await serveRecordedLogs();
const told = await otherReplica();
await inFolder(async (folder) => {
  const own = await freePort();
  const given = [...flags(backend.url, folder), ...peerFlags(own, told.port)];
  const proxy = await serve('serve', given, `127.0.0.1:${own}`, main);
  await write('answers.json', JSON.stringify(await answers(proxy.url)));
  await pause(writingMs);
  await write('peer.json', JSON.stringify({ ...told.values(), ...(await snapshots(proxy.url)) }));
  await proxy.stop();
  for (const file of [files.disk, files.patterns, files.labels])
    await copyFile(join(folder, file), join(recordings, file));
});
told.close();
// The content after a deletion has ended.
await write(
  files.deletions,
  JSON.stringify({ version: 1, running: [], ended: [['d', Date.UTC(2026, 9, 6)]] }),
);
await backend.stop();
await cp(join(packageRoot(), 'pipelines'), join(recordings, 'pipelines'), { recursive: true });

function write(file: string, text: string): Promise<void> {
  return writeFile(join(recordings, file), `${text}\n`);
}

/** An empty replica that stores, in base64, the answers pushed to it with a long TTL: those about the past. */
async function otherReplica() {
  const values: Record<string, string> = {};
  const port = await freePort();
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://other');
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      response.writeHead(pathname === '/_cache/set' ? 204 : 404).end();
      if (Number(searchParams.get('ttl_ms')) <= hourMs) return;
      const body = Buffer.concat(parts);
      const encoding = incoming.headers['content-encoding'];
      const plain = encoding === 'gzip' ? gunzipSync(body) : body;
      if (encoding === undefined || encoding === 'gzip')
        values[searchParams.get('key') ?? ''] = plain.toString('base64');
    });
  });
  server.listen(port, '127.0.0.1');
  return { port, values: () => values, close: () => server.close() };
}

/** The snapshots that a replica gets from a peer at startup. */
async function snapshots(url: string): Promise<Readonly<Record<string, string>>> {
  const values: Record<string, string> = {};
  for (const key of ['__patterns_snapshot:v1', '__label_values_index_snapshot:v1']) {
    const headers = { 'x-peer-token': token, 'accept-encoding': 'identity' };
    const answer = await fetch(`${url}/_cache/get?key=${key}`, { headers });
    if (answer.status === 200) values[key] = Buffer.from(await answer.arrayBuffer()).toString('base64');
  }
  return values;
}
