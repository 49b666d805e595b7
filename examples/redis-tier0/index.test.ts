import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import {
  makeExchange,
  makeHost,
  makeLogAnswer,
  makeLogRequest,
  makeTenant,
  optionsOf,
} from 'ref-proxy/testing';
import plugin, { type Options } from './index.js';

/** A fake Redis server with the commands that the plugin uses. */
class FakeRedis {
  readonly values = new Map<string, Buffer>();
  /** While set, the server does not respond; it answers the queued commands later. */
  #isSilent = false;
  /** Unanswered bytes of each connection. */
  readonly #sockets = new Map<Socket, Buffer>();
  readonly #server: Server = createServer((socket) => this.#serve(socket));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.keys()) socket.destroy();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  be(state: 'silent' | 'talking'): void {
    this.#isSilent = state === 'silent';
    for (const socket of this.#sockets.keys()) this.#talk(socket);
  }

  #serve(socket: Socket): void {
    this.#sockets.set(socket, Buffer.alloc(0));
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      this.#sockets.set(socket, Buffer.concat([this.#sockets.get(socket) ?? Buffer.alloc(0), data]));
      this.#talk(socket);
    });
  }

  #talk(socket: Socket): void {
    while (!this.#isSilent) {
      const waiting = this.#sockets.get(socket) ?? Buffer.alloc(0);
      const read = readCommand(waiting);
      if (read === undefined) return;
      this.#sockets.set(socket, waiting.subarray(read.length));
      socket.write(this.#answer(read.args));
    }
  }

  #answer([command, ...args]: readonly Buffer[]): Buffer {
    const [name, second = Buffer.alloc(0), third] = [String(args[0]), args[1], args[2]];
    switch (String(command).toUpperCase()) {
      case 'GETRANGE':
        return bulk(this.values.get(name)?.subarray(0, Number(third) + 1) ?? Buffer.alloc(0));
      case 'MGET':
        return Buffer.concat([
          Buffer.from(`*${args.length}\r\n`),
          ...args.map((each) => bulk(this.values.get(String(each)))),
        ]);
      case 'SET':
        if (args.map(String).includes('NX') && this.values.has(name)) return Buffer.from('$-1\r\n');
        this.values.set(name, Buffer.from(second));
        return Buffer.from('+OK\r\n');
      default:
        return Buffer.from(`-ERR unknown command\r\n`);
    }
  }
}

function bulk(value: Buffer | undefined): Buffer {
  if (value === undefined) return Buffer.from('$-1\r\n');
  return Buffer.concat([Buffer.from(`$${value.byteLength}\r\n`), value, Buffer.from('\r\n')]);
}

/** The first complete command: `*2\r\n$3\r\nGET\r\n$1\r\na\r\n`. */
function readCommand(bytes: Buffer): { args: Buffer[]; length: number } | undefined {
  let at = 0;
  const number = (): number => {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) return NaN;
    const value = Number(bytes.toString('latin1', at + 1, end));
    at = end + 2;
    return value;
  };
  const args: Buffer[] = [];
  const count = number();
  for (let index = 0; index < count; index += 1) {
    const length = number();
    if (!(at + length + 2 <= bytes.byteLength)) return undefined;
    args.push(bytes.subarray(at, at + length));
    at += length + 2;
  }
  return count > 0 ? { args, length: at } : undefined;
}

let redis: FakeRedis;
let url: string;
const undo: (() => unknown)[] = [];

beforeEach(async () => {
  redis = new FakeRedis();
  url = await redis.start();
  undo.push(() => redis.stop());
});

afterEach(async () => {
  for (const work of undo.splice(0).reverse()) await work();
});

/** A replica whose rest of the chain counts its requests. */
function replica(change: Partial<Options> = {}) {
  const options = {
    // The options behind cache keys and TTLs are those of the built-in stage.
    ...(optionsOf('tier0') as unknown as Options),
    ...{ url, prefix: 'test:', timeout: 60_000, maxAnswerBytes: 10_000 },
    ...change,
  };
  const host = makeHost({ metrics: plugin.metrics });
  // Long after the queried hour, so that the answer is settled.
  host.clock.advance(10 * 3_600_000);
  const stage = plugin.create(options, host);
  undo.push(() => stage.stop?.());
  let asked = 0;
  const ask = async (tenant = 'a', line = 'sold'): Promise<string> => {
    const exchange = makeExchange<'tenant'>({
      request: makeLogRequest(),
      slots: { tenant: makeTenant(tenant) },
    });
    const answer = await stage.handle(exchange, async () => {
      asked += 1;
      return makeLogAnswer({ app: 'shop' }, [line]);
    });
    return answer.kind === 'encoded' ? String(answer.body) : answer.kind;
  };
  return { host, stage, ask, asked: () => asked };
}

/** A connected replica. The start does not wait for the connection, so the first requests may be answered without Redis. */
async function connected(change?: Partial<Options>) {
  const made = replica(change);
  await made.stage.start?.(new AbortController().signal);
  while ((await made.ask('warm-up')) === 'streams') {
    await new Promise((resolve) => setTimeout(resolve, 5));
    // After a failure, Redis is left alone for a second.
    made.host.clock.advance(1_000);
  }
  const before = made.asked();
  // Writes are not awaited, but a request sent after a write sees its result.
  const written = async (): Promise<void> => {
    await made.ask();
    await made.ask();
  };
  return { ...made, written, asked: () => made.asked() - before };
}

test('replicas share what one of them was answered', async () => {
  const [one, other] = [await connected(), await connected()];
  const bytes = await one.ask();
  assert.match(bytes, /sold/);
  assert.equal(await other.ask(), bytes);
  assert.equal(other.asked(), 0);
});

test('a purge by one replica ends what all have, of one tenant or of everything', async () => {
  const [one, other] = [await connected(), await connected()];
  await one.ask('a');
  await one.ask('b');
  await other.stage.purge?.('answers', 'a');
  assert.match(await one.ask('a', 'sold again'), /sold again/);
  assert.match(await one.ask('b', 'sold again'), /"sold"/);
  await other.stage.purge?.('all');
  assert.match(await one.ask('b', 'sold again'), /sold again/);
});

test('generations that Redis has lost bring nothing back', async () => {
  const one = await connected();
  await one.ask();
  for (const name of redis.values.keys()) if (name.includes('generation')) redis.values.delete(name);
  await one.ask();
  assert.equal(one.asked(), 2);
});

test('what lies in Redis and was not written for this key is no answer', async () => {
  const one = await connected();
  for (const spoil of [
    (value: Buffer) => value.subarray(0, -1),
    (value: Buffer) => Buffer.concat([value.subarray(0, -1), Buffer.from('x')]),
    () => Buffer.from('{"status":"success"}'),
    () => Buffer.alloc(1_000_000),
  ]) {
    await one.written();
    for (const [name, value] of redis.values)
      if (name.includes('answer:')) redis.values.set(name, spoil(value));
    const before = one.asked();
    assert.match(await one.ask(), /"sold"/);
    assert.equal(one.asked(), before + 1);
  }
});

test('with a secret, nobody else can write an answer', async () => {
  const [forger, one] = [await connected(), await connected({ secret: 'of the site' })];
  await forger.ask('a', 'forged');
  assert.match(await one.ask(), /"sold"/);
});

test('an answer over the bound is passed on and not kept', async () => {
  const one = await connected({ maxAnswerBytes: 2_000 });
  const long = 'x'.repeat(3_000);
  assert.equal(await one.ask('a', long), 'streams');
  assert.equal(await one.ask('a', long), 'streams');
});

test('without Redis the chain answers, and nothing fails', async () => {
  const one = await connected();
  await redis.stop();
  for (let round = 0; round < 3; round += 1) assert.equal(await one.ask(), 'streams');
  await one.stage.purge?.('all');
  assert.equal(await replica().ask(), 'streams');
});

test('a Redis that is silent is waited for once, and told of purges when it speaks again', async () => {
  const one = await connected({ timeout: 200 });
  await one.written();
  const failures = (): Promise<number | undefined> => one.host.metric('redis_tier0_failures_total');
  const before = (await failures()) ?? 0;
  redis.be('silent');
  assert.equal(await one.ask(), 'streams');
  assert.equal(await one.ask(), 'streams');
  assert.equal(await failures(), before + 1);
  await one.stage.purge?.('all');
  redis.be('talking');
  const other = await connected();
  do one.host.clock.advance(1_000);
  while ((await one.ask('a', 'sold again')) === 'streams');
  assert.match(await other.ask('a', 'sold later'), /sold again/);
});
