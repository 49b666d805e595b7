import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { startDevBackend } from '../../../core/embedded/index.js';
import { rehearse } from '../../../core/program/rehearsal/rehearsal.js';
import { withProxyFile } from '../../../core/testing/with-proxy.js';
import { main, minimalPipeline } from './child.js';

type LogRecord = Readonly<Record<string, unknown>>;

const rehearses = '-rehearsal=true';
const reason = 'rehearsal running';
/** On a machine that is busy its time may be over first. */
const inTime = /^(?:done|unfinished)$/;

/** What is asked while it rehearses; the backend answers the query when the test lets it. */
const held = '/loki/api/v1/query_range?query=%7Bapp%3D%22held%22%7D';

interface Proxy {
  readonly child: ChildProcess;
  readonly url: string;
  readonly records: readonly LogRecord[];
  readonly exited: Promise<readonly unknown[]>;
}

/** Starts `ref-proxy serve` and waits for its address. */
async function serve(t: ExecutionContext, backendUrl: string, ...flags: string[]): Promise<Proxy> {
  const child = spawn(
    process.execPath,
    [
      main,
      'serve',
      '-listen=127.0.0.1:0',
      '-admin-listen=127.0.0.1:0',
      `-backend=${backendUrl}`,
      '-labels-cache-warm=false',
      '-server.register-instrumentation=true',
      '-log-rate-threshold=0',
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  // When its output has been read to the end, too.
  const exited = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const records: LogRecord[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the process ended without an address')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const record = JSON.parse(line) as LogRecord;
      records.push(record);
      if (typeof record['main'] === 'string') resolve(record['main']);
    });
  });
  return { child, url, records, exited };
}

/** A backend that keeps calls for the held lines waiting until the test opens the gate. */
async function startHolding(
  t: ExecutionContext,
): Promise<{ readonly url: string; readonly open: () => void }> {
  const embedded = await startDevBackend();
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const server: Server = createServer((asked, answer) => {
    const chunks: Buffer[] = [];
    asked.on('data', (chunk: Buffer) => chunks.push(chunk));
    asked.once('end', () => {
      const body = Buffer.concat(chunks);
      const isHeld = `${asked.url ?? ''} ${body.toString()}`.includes('held');
      void (isHeld ? opened : Promise.resolve()).then(() => {
        const { method = 'GET', headers } = asked;
        httpRequest(new URL(asked.url ?? '/', embedded.url), { method, headers }, (real) => {
          answer.writeHead(real.statusCode ?? 500, real.headers);
          real.pipe(answer);
        }).end(body);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    open();
    server.close();
    server.closeAllConnections();
    await embedded.close();
  });
  // A server that listens on TCP has an AddressInfo.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, open };
}

async function get(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(url);
  return { status: answer.status, text: await answer.text() };
}

/** Asks until the process is ready; what it said before. */
async function untilReady(url: string): Promise<ReadonlySet<string>> {
  const said = new Set<string>();
  for (;;) {
    const { status, text } = await get(`${url}/ready`);
    if (status === 200) return said;
    said.add(text);
    // It gives way to these, too.
    await pause(100);
  }
}

/** What a process logs comes some time after its answers. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(20);
}

function endings(records: readonly LogRecord[]): readonly unknown[] {
  return records.map((record) => record['rehearsal.outcome']).filter((outcome) => outcome !== undefined);
}

test.serial('a process that rehearses answers already, and leaves no trace', async (t) => {
  const backend = await startHolding(t);
  const { url, records } = await serve(t, backend.url, rehearses);
  // While a client waits it asks nothing more, so that it is not done before the test is.
  const answered = get(url + held);
  t.is((await get(`${url}/loki/api/v1/labels`)).status, 200);
  backend.open();
  t.is((await answered).status, 200);
  // It may be over before anybody has asked.
  for (const said of await untilReady(url)) t.is(said, reason);
  await until(() => endings(records).length === 1);
  t.regex(String(endings(records)), inTime);
  const { text } = await get(`${url}/metrics`);
  t.regex(text, /^ref_proxy_rehearsal_duration_seconds\{outcome="\w+"\} \d/m);
  const counted = [
    ...text.matchAll(
      /^ref_proxy_requests_total\{system="ref".*endpoint="(?<endpoint>\w+)".*\} (?<count>\d+)/gm,
    ),
  ].filter(({ groups }) => groups?.['endpoint'] !== 'ready');
  t.deepEqual(counted.map(({ groups }) => [groups?.['endpoint'], groups?.['count']]).sort(), [
    ['labels', '1'],
    ['query_range', '1'],
  ]);
  const asked = (): readonly unknown[] =>
    records
      .map((record) => record['http.route'])
      .filter((route) => route !== undefined && route !== '/ready');
  await until(() => asked().includes('/loki/api/v1/query_range'));
  t.deepEqual(
    asked().filter((route) => route !== '/metrics'),
    ['/loki/api/v1/labels', '/loki/api/v1/query_range'],
  );
});

test.serial('a process that is stopped while it rehearses stops cleanly', async (t) => {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  const { child, url, records, exited } = await serve(t, backend.url, rehearses);
  await get(`${url}/alive`);
  child.kill('SIGTERM');
  t.deepEqual(await exited, [0, null]);
  t.regex(String(endings(records)), /^(?:stopped|done|unfinished)$/);
});

test.serial('workers rehearse each, and all are ready together', async (t) => {
  const backend = await startHolding(t);
  const { url, records } = await serve(t, backend.url, rehearses, '-workers=2');
  const answered = get(url + held);
  backend.open();
  await answered;
  await untilReady(url);
  await until(() => endings(records).length === 2);
  for (const ending of endings(records)) t.regex(String(ending), inTime);
  t.regex((await get(`${url}/metrics`)).text, /^ref_proxy_rehearsal_duration_seconds\{outcome="\w+"\} \d/m);
});

test.serial('without a rehearsal a process is ready at once', async (t) => {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  const { url, records } = await serve(t, backend.url);
  t.deepEqual([...(await untilReady(url))], []);
  t.deepEqual(endings(records), []);
});

/** How a rehearsal with other settings ends, and what it says then. */
async function ended(
  t: ExecutionContext,
  settings: Parameters<typeof rehearse>[1],
): Promise<{ readonly severity: unknown; readonly outcome: unknown; readonly text: string }> {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  let begun = 0;
  return withProxyFile(
    minimalPipeline,
    async ({ proxy, url, log }) => {
      await untilReady(url);
      await proxy.reload();
      await untilReady(url);
      t.is(begun, 1, 'a reload begins no other');
      const told = log.records.filter((record) => record.has('rehearsal.outcome'));
      t.is(told.length, 1);
      const record = new Map(told[0]);
      const [severity, outcome] = [record.get('severity.text'), record.get('rehearsal.outcome')];
      return { severity, outcome, text: JSON.stringify([...record]) };
    },
    {
      flags: { backend: backend.url },
      prepare: (house) => {
        begun += 1;
        return rehearse(house, settings);
      },
    },
  );
}

test.serial('everything that is asked in a rehearsal is answered', async (t) => {
  const { severity, outcome } = await ended(t, { limitMs: 240_000 });
  t.deepEqual([severity, outcome], ['INFO', 'done']);
});

test.serial('a rehearsal that cannot be leaves a process that is ready', async (t) => {
  const broken = Promise.reject(new Error('no sample today'));
  const { severity, outcome, text } = await ended(t, { backend: () => broken });
  t.deepEqual([severity, outcome], ['WARN', 'failed']);
  t.regex(text, /no sample today/);
});

test.serial('a rehearsal ends when its time is over', async (t) => {
  const { severity, outcome } = await ended(t, { limitMs: 1 });
  t.deepEqual([severity, outcome], ['INFO', 'unfinished']);
});

test.serial('a rehearsal asks nothing while clients wait for answers', async (t) => {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  let looks = 0;
  let stop: () => Promise<void> = () => Promise.resolve();
  await withProxyFile(
    minimalPipeline,
    async ({ url, log }) => {
      await until(() => looks >= 50);
      t.deepEqual(await get(`${url}/ready`), { status: 503, text: reason });
      await stop();
      await untilReady(url);
      const outcomes = log.records.map((record) => record.get('rehearsal.outcome'));
      t.deepEqual(
        outcomes.filter((outcome) => outcome !== undefined),
        ['stopped'],
      );
    },
    {
      flags: { backend: backend.url },
      prepare: (house) => {
        const answering = (): number => {
          looks += 1;
          return 1;
        };
        const rehearsal = rehearse({ ...house, answering }, { limitMs: 240_000 });
        stop = () => rehearsal.stop();
        return rehearsal;
      },
    },
  );
});
