import { copyFile, readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { withDisk } from '../core/cache/disk-engines.js';
import { freePort, run } from '../core/program/child.js';
import {
  answers,
  files,
  flags,
  inFolder,
  metric,
  peerFlags,
  recordings,
  serve,
  serveRecordedLogs,
  token,
  ready,
  type Served,
} from './yesterday.js';

/** Shared by all tests, which may run concurrently. */
let logs: Promise<Served> | undefined;
const backendUrl = async (): Promise<string> => (await (logs ??= serveRecordedLogs())).url;

test.after.always(async () => {
  await (await logs)?.stop();
});

test.serial('pipeline files of the release before pass the checker', async (t) => {
  const child = run(['check', join(recordings, 'pipelines')], ['ignore', 'pipe', 'pipe']);
  let findings = '';
  for (const output of [child.stdout, child.stderr])
    output?.setEncoding('utf8').on('data', (text: string) => (findings += text));
  t.deepEqual(await once(child, 'close'), [0, null], findings);
});

withDisk(test.serial)(
  'files that the release before kept are used, or set aside where options have come: the answers are the same',
  async (t) => {
    const backend = await backendUrl();
    await inFolder(async (folder) => {
      for (const file of Object.values(files)) await copyFile(join(recordings, file), join(folder, file));
      const before = await setupIn(folder);
      const proxy = await serve('serve', flags(backend, folder));
      try {
        t.deepEqual(await answers(proxy.url), await recorded('answers.json'));
        const used = {
          disk: await metric(proxy.url, 'disk_cache_hits_total'),
          patterns: proxy.records.filter((line) => /patterns restored.*"patterns\.entries":[1-9]/.test(line))
            .length,
          labels: proxy.records.filter((line) => /index restored.*"index\.bytes":[1-9]/.test(line)).length,
        };
        noErrors(t, proxy);
        await proxy.stop();
        const isSame = (await setupIn(folder)) === before;
        t.log(isSame ? 'used' : 'set aside: answers depend on options that the release before did not have');
        if (isSame) for (const [name, count] of Object.entries(used)) t.true(count > 0, name);
      } finally {
        await proxy.stop();
      }
    });
  },
);

withDisk(test.serial)(
  'files of a format that is not known are set aside, and nothing is answered from them',
  async (t) => {
    const backend = await backendUrl();
    await inFolder(async (folder) => {
      const database = await readFile(join(recordings, files.disk));
      // The offset of the table version in SQLite's header.
      database.writeUInt32BE(99, 60);
      await writeFile(join(folder, files.disk), database);
      for (const file of [files.patterns, files.labels, files.deletions]) {
        const text = await readFile(join(recordings, file), 'utf8');
        await writeFile(join(folder, file), text.replace('"version":1', '"version":99'));
      }
      const proxy = await serve('serve', flags(backend, folder));
      try {
        await ready(proxy.url);
        const names = await readdir(folder);
        const isAside = (file: string): boolean =>
          names.some(
            (name) =>
              name.startsWith(`${file}.`) && /^\.(?:unusable|[a-z-]+-\d+)$/.test(name.slice(file.length)),
          );
        t.deepEqual(
          [files.disk, files.patterns, files.labels].filter((file) => !isAside(file)),
          [],
          names.join(' '),
        );
        t.true(proxy.records.some((line) => line.includes('cannot read the file of running deletions')));
        t.deepEqual(await answers(proxy.url), await recorded('answers.json'));
        t.is(await metric(proxy.url, 'disk_cache_up'), 1);
        noErrors(t, proxy);
      } finally {
        await proxy.stop();
      }
    });
  },
);

withDisk(test.serial)(
  'replicas of the release before and of this one share answers or ask the backend',
  async (t) => {
    const backend = await backendUrl();
    const values = new Map(Object.entries((await recorded('peer.json')) as Record<string, string>));
    const old = await oldReplica(values);
    t.teardown(old.close);
    await inFolder(async (folder) => {
      const own = await freePort();
      const proxy = await serve(
        'serve',
        [...flags(backend, folder), ...peerFlags(own, old.port)],
        `127.0.0.1:${own}`,
      );
      try {
        t.deepEqual(await answers(proxy.url), await recorded('answers.json'));
        t.log(
          old.given.length > 0
            ? `${old.given.length} answers taken`
            : 'no answer of the old replica is asked for',
        );
        const failures = await metric(proxy.url, 'peer_cache_failures_total');
        // The old replica shares its process with other tests, which may delay its responses by a second.
        const slow = await metric(proxy.url, 'peer_cache_failures_total{reason="timeout"}');
        t.is(
          failures - slow,
          0,
          proxy.records.filter((record) => record.includes('a peer failed')).join('\n'),
        );
        const headers = { 'x-peer-token': token };
        for (const [key, value] of values) {
          const path = `/_cache/get?key=${encodeURIComponent(key)}`;
          const got = await request(proxy.url + path, { headers });
          await got.body.dump();
          t.true([200, 404].includes(got.statusCode), `${path}: ${got.statusCode}`);
          if (key.startsWith('__')) continue;
          const set = await request(`${proxy.url}${path.replace('get', 'set')}&ttl_ms=60000`, {
            method: 'POST',
            headers,
            body: Buffer.from(value, 'base64'),
          });
          await set.body.dump();
          t.is(set.statusCode, 204, path);
        }
        t.deepEqual(await answers(proxy.url), await recorded('answers.json'));
        noErrors(t, proxy);
      } finally {
        await proxy.stop();
      }
    });
  },
);

async function recorded(file: string): Promise<unknown> {
  return JSON.parse(await readFile(join(recordings, file), 'utf8'));
}

/** The hash of the options with which the snapshot of patterns was last written. */
async function setupIn(folder: string): Promise<string | undefined> {
  const setups = (await readFile(join(folder, files.patterns), 'utf8')).match(/(?<=&setup=)\w+/g);
  return setups?.at(-1);
}

function noErrors(t: ExecutionContext, { records }: Served): void {
  t.deepEqual(
    records.filter((line) => /"severity\.text":"(?:ERROR|FATAL)"|\bERROR\b|^Error/.test(line)),
    [],
  );
}

/** Simulates a replica of the previous release, with the recorded responses only. */
async function oldReplica(values: ReadonlyMap<string, string>) {
  const given: string[] = [];
  const server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://old');
    const key = searchParams.get('key') ?? '';
    const value = pathname === '/_cache/get' ? values.get(key) : undefined;
    if (value !== undefined && !key.startsWith('__')) given.push(key);
    incoming.resume();
    if (value === undefined) response.writeHead(pathname === '/_cache/set' ? 204 : 404).end();
    else response.writeHead(200, { 'x-cache-ttl-ms': '3600000' }).end(Buffer.from(value, 'base64'));
  });
  // In a process that is busy with other tests, a keep-alive timeout would close connections on which a request waits.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port, given, close };
}
