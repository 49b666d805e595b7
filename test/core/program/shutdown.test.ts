import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { Agent, request } from 'undici';
import { startDevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { main } from './child.js';

/** Two signals within half a second count as one. */
const betweenSignalsMs = 600;
const lookEveryMs = 50;

interface Replica {
  readonly child: ChildProcess;
  readonly url: string;
  readonly exited: Promise<readonly unknown[]>;
  /** Readiness at the last check of the balancer. */
  isReady: boolean;
  /** Requests that the balancer has sent it and that have no answer yet. */
  open: number;
  answered: number;
}

async function startReplica(backendUrl: string, ...flags: readonly string[]): Promise<Replica> {
  const child = spawn(
    process.execPath,
    [
      ...[main, 'serve', '-listen=127.0.0.1:0', '-admin-listen=127.0.0.1:0', `-backend=${backendUrl}`],
      ...['-rate-limit-per-second=0', '-shutdown-delay=10m', ...flags],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  const url = await addressOnceServing(child.stdout);
  child.stdout.resume();
  return { child, url, exited, isReady: false, open: 0, answered: 0 };
}

/** The address, once all processes serve; a signal before that aborts the startup. */
async function addressOnceServing(output: Readable): Promise<string> {
  let url = '';
  for await (const line of createInterface({ input: output })) {
    url = /"main":"([^"]+)"/.exec(line)?.[1] ?? url;
    if (line.includes('"body":"serving"')) return url;
  }
  throw new Error('the process ended before it served');
}

/** The response of `/ready` over a new connection. */
async function readiness(url: string): Promise<string> {
  const { statusCode, body } = await request(`${url}/ready`, { reset: true });
  return `${statusCode} ${await body.text()}`;
}

/** Sends each request to one ready replica, without retries. */
class Balancer {
  readonly replicas = new Set<Replica>();
  readonly #agent = new Agent();
  readonly #server = createServer((asked, answer) => {
    this.#pass(asked.url ?? '').then(
      (body) => answer.end(body),
      (error: unknown) => answer.writeHead(502).end(String(error)),
    );
  });
  readonly #looks = setInterval(() => {
    for (const replica of this.replicas) void this.#look(replica);
  }, lookEveryMs);
  #turn = 0;

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    // A server that listens on TCP has an AddressInfo.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    clearInterval(this.#looks);
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#agent.close();
  }

  /** Waits until the balancer sees this readiness, and until no request to an unready replica is in flight. */
  async sees(replica: Replica, isReady: boolean): Promise<void> {
    while (replica.isReady !== isReady || (!isReady && replica.open > 0)) await pause(lookEveryMs);
  }

  async #look(replica: Replica): Promise<void> {
    const said = await readiness(replica.url).catch(() => '');
    replica.isReady = said === '200 ready';
  }

  async #pass(path: string): Promise<string> {
    const ready = [...this.replicas].filter(({ isReady }) => isReady);
    const replica = ready[(this.#turn += 1) % ready.length];
    if (replica === undefined) throw new Error('no replica is ready');
    replica.open += 1;
    try {
      const { statusCode, body } = await request(replica.url + path, { dispatcher: this.#agent });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${statusCode} ${text}`);
      replica.answered += 1;
      return text;
    } finally {
      replica.open -= 1;
    }
  }
}

/** Sends requests over several connections until it is ended; returns the responses with a status other than 200. */
function load(url: string): { readonly end: () => Promise<readonly string[]> } {
  const agent = new Agent({ connections: 3, pipelining: 1 });
  const failed: string[] = [];
  let isOver = false;
  let nth = 0;
  const ask = async (): Promise<void> => {
    while (!isOver) {
      nth += 1;
      const query = encodeURIComponent(`{app="shop"} != "no ${nth}"`);
      const path = `/loki/api/v1/query_range?query=${query}&limit=10`;
      const { statusCode, body } = await request(url + path, { dispatcher: agent });
      const text = await body.text();
      if (statusCode !== 200) failed.push(text);
    }
  };
  const asking = Promise.all(Array.from({ length: 3 }, ask));
  return {
    end: async () => {
      isOver = true;
      await asking;
      await agent.close();
      return failed;
    },
  };
}

test.serial('a rolling restart of three replicas behind a balancer fails no request', async (t) => {
  const backend = await startDevBackend();
  t.teardown(() => backend.close());
  const balancer = new Balancer();
  t.teardown(() => balancer.stop());
  const url = await balancer.start();
  const join = async (): Promise<Replica> => {
    const replica = await startReplica(backend.url);
    t.teardown(() => replica.child.kill('SIGKILL'));
    balancer.replicas.add(replica);
    await balancer.sees(replica, true);
    return replica;
  };
  const first = await Promise.all([join(), join(), join()]);
  const asking = load(url);
  // Each replica has answered before it is restarted, and each new one has answered by the end.
  const allAnswered = async (): Promise<void> => {
    while ([...balancer.replicas].some(({ answered }) => answered === 0)) await pause(lookEveryMs);
  };
  await allAnswered();
  for (const replica of first) {
    replica.child.kill('SIGTERM');
    while ((await readiness(replica.url)) !== '503 shutting down') await pause(lookEveryMs);
    await balancer.sees(replica, false);
    await pause(betweenSignalsMs);
    replica.child.kill('SIGTERM');
    t.deepEqual(await replica.exited, [0, null]);
    balancer.replicas.delete(replica);
    await join();
  }
  await allAnswered();
  t.deepEqual(await asking.end(), []);
});

for (const workers of [1, 2]) {
  test.serial(`a process goes on accepting while it shuts down (${workers} processes)`, async (t) => {
    const backend = await startDevBackend();
    t.teardown(() => backend.close());
    const { child, url, exited } = await startReplica(backend.url, `-workers=${workers}`);
    t.teardown(() => child.kill('SIGKILL'));
    while ((await readiness(url)) !== '200 ready') await pause(lookEveryMs);
    const agent = new Agent({ connections: 1, pipelining: 1 });
    t.teardown(() => agent.close());
    const labels = async (): Promise<string> => {
      const { statusCode, headers, body } = await request(`${url}/loki/api/v1/labels`, { dispatcher: agent });
      await body.dump();
      return `${statusCode} ${String(headers['connection'])}`;
    };
    t.is(await labels(), '200 keep-alive');
    child.kill('SIGTERM');
    // Each process learns about the shutdown on its own.
    while ((await readiness(url)) !== '503 shutting down' || (await labels()) !== '200 close')
      await pause(lookEveryMs);
    for (let nth = 0; nth < 20; nth += 1) {
      t.is(await readiness(url), '503 shutting down');
      t.regex(await labels(), /^200 /);
    }
    await pause(betweenSignalsMs);
    child.kill('SIGTERM');
    t.deepEqual(await exited, [0, null]);
  });

  test.serial(`a process ends by itself when its delay is over (${workers} processes)`, async (t) => {
    const backend = await startDevBackend();
    t.teardown(() => backend.close());
    const flags = [`-workers=${workers}`, '-shutdown-delay=50ms'];
    const { child, url, exited } = await startReplica(backend.url, ...flags);
    while ((await readiness(url)) !== '200 ready') await pause(lookEveryMs);
    child.kill('SIGTERM');
    t.deepEqual(await exited, [0, null]);
  });
}

test.serial('a process that is told to stop while it loads ends as one that has served', async (t) => {
  // This module is loaded before the program; it prints the place at which the first handler is set, and stops the program right after
  // that.
  const stop = `data:text/javascript,${encodeURIComponent(`
    import { writeSync } from 'node:fs';
    process.on('newListener', function stop(name) {
      if (name !== 'SIGTERM') return;
      process.off('newListener', stop);
      writeSync(2, new Error().stack);
      setImmediate(() => process.kill(process.pid, 'SIGTERM'));
    });
  `)}`;
  const child = spawn(process.execPath, ['--import', stop, main, 'serve'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let said = '';
  for await (const part of child.stderr as AsyncIterable<Buffer>) said += part.toString();
  t.deepEqual(await exited, [0, null]);
  // The handler is set in the program's first lines, not in code that runs after an await.
  t.regex(said, /^ +at (?!async ).*\/core\/program\/main\.js/m);
});
