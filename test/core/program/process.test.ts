import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { request } from 'undici';
import { addressIn, main, minimalPipeline as pipeline } from './child.js';

const backend = createServer();
test.after.always(() => backend.close());

/** Starts the fake VictoriaLogs. */
async function listening(): Promise<AddressInfo> {
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an AddressInfo.
  return backend.address() as AddressInfo;
}

interface Started {
  readonly child: ChildProcess;
  /** The address that it reports. */
  readonly url: string;
  readonly exited: Promise<readonly unknown[]>;
}

function start(...args: string[]): Promise<Started> {
  return startNode([], args);
}

async function startNode(flags: readonly string[], args: readonly string[]): Promise<Started> {
  const child = spawn(process.execPath, [...flags, main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  return { child, url: await addressIn(child.stdout), exited };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test.serial(`serve stops cleanly on ${signal}`, async (t) => {
    const { child, url, exited } = await start(
      'serve',
      `-pipeline=${pipeline}`,
      '-listen=127.0.0.1:0',
      '-backend=http://127.0.0.1:9',
    );
    const { statusCode, body } = await request(`${url}/alive`);
    t.is(statusCode, 200);
    await body.dump();
    child.kill(signal);
    t.deepEqual(await exited, [0, null]);
  });
}

for (const workers of [1, 2])
  test.serial(`warnings at the start are records like all others (${workers} processes)`, async (t) => {
    const map = '-tenant-map={"team":{"account_id":"1","project_id":"0"}}';
    const flags = [map, `-workers=${workers}`, '-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0'];
    const child = spawn(process.execPath, [main, 'serve', ...flags, '-backend=http://127.0.0.1:9'], {
      stdio: 'pipe',
    });
    const exited = once(child, 'close');
    let [out, err] = ['', ''];
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString();
        if (out.includes('"serving"')) resolve();
      });
      void exited.then(() => resolve());
    });
    child.kill('SIGTERM');
    t.deepEqual(await exited, [0, null]);
    t.is(err, '');
    const records = out
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    const told = records.filter((record) => JSON.stringify(record).includes('R052'));
    t.is(told.length, 1);
    t.like(told[0], {
      'severity.text': 'WARN',
      component: 'proxy',
      'pipeline.rule': 'R052',
      'pipeline.place': 'flag -tenant-map',
      'pipeline.fix': 'set allowNumeric (-tenant.allow-numeric) to false',
    });
  });

test.serial('the embedded backend runs alone and stops on SIGTERM', async (t) => {
  const { child, url, exited } = await start('backend', '-listen=127.0.0.1:0');
  const { statusCode, body } = await request(`${url}/health`);
  t.is(statusCode, 200);
  await body.dump();
  const second = spawn(process.execPath, [main, 'backend', `-listen=${url.replace('http://', '')}`], {
    stdio: 'pipe',
  });
  let err = '';
  second.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  t.deepEqual(await once(second, 'close'), [1, null]);
  t.regex(
    err,
    /^ref-proxy backend: -listen: cannot listen on 127\.0\.0\.1:\d+: address already in use; stop the process that listens there, .*\n$/,
  );
  child.kill('SIGTERM');
  t.deepEqual(await exited, [0, null]);
});

/** The priorities of all threads of a process except the main one, lowest priority first, and the priority of the main thread. */
function prioritiesOf(pid: number): {
  readonly main: number | undefined;
  readonly others: readonly number[];
} {
  const folder = `/proc/${pid}/task`;
  const all = readdirSync(folder).map((thread) => {
    const stat = readFileSync(`${folder}/${thread}/stat`, 'utf8');
    // Nice is the seventeenth field after the name, which may contain spaces.
    return { thread, nice: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) };
  });
  const others = all.filter(({ thread }) => thread !== String(pid)).map(({ nice }) => nice);
  return {
    main: all.find(({ thread }) => thread === String(pid))?.nice,
    others: others.toSorted((a, b) => b - a),
  };
}

const onLinux = process.platform === 'linux' ? test.serial : test.serial.skip;

onLinux(
  "V8's four threads give way to the event loop, unless somebody has chosen how many there are",
  async (t) => {
    const [usual, chosen] = await Promise.all(
      [[], ['--v8-pool-size=3']].map(async (flags) => {
        const { child, exited } = await startNode(flags, ['backend', '-listen=127.0.0.1:0']);
        const priorities = prioritiesOf(child.pid ?? 0);
        child.kill('SIGTERM');
        await exited;
        return priorities;
      }),
    );
    const { main: own = NaN, others = [] } = usual ?? {};
    // Threads get nice 10, unless the process already has that nice value or a higher one.
    const lower = others.filter((nice) => nice > own);
    t.deepEqual(lower, own < 10 ? [10, 10, 10, 10] : []);
    t.deepEqual(new Set(chosen?.others), new Set([chosen?.main]));
  },
);

/** True if the server still accepts connections. */
async function isOpen(url: string): Promise<boolean> {
  try {
    await (await request(`${url}/alive`, { reset: true })).body.dump();
    return true;
  } catch {
    return false;
  }
}

test.serial('a query that runs when SIGTERM comes is answered before the process ends', async (t) => {
  let answer: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    backend.on('request', (incoming, response) => {
      response.setHeader('content-type', 'application/json');
      const end = (): void => void response.end('{"values":[{"value":"app","hits":1}]}');
      if (incoming.url?.startsWith('/select/logsql/stream_field_names') === true) {
        answer = end;
        resolve();
      } else end();
    });
  });
  const { port } = await listening();
  const { child, url, exited } = await start(
    'serve',
    `-pipeline=${pipeline}`,
    '-listen=127.0.0.1:0',
    `-backend=http://127.0.0.1:${port}`,
  );
  const asking = request(`${url}/loki/api/v1/labels`);
  await arrived;
  child.kill('SIGTERM');
  while (await isOpen(url));
  answer();
  const { statusCode, body } = await asking;
  t.is(statusCode, 200);
  t.like(await body.json(), { status: 'success' });
  t.deepEqual(await exited, [0, null]);
});
