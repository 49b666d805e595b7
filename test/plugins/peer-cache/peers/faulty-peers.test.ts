import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { framed } from '../../../../core/cache/frame.js';
import { metric } from '../stored.js';
import { apps, ask, filled, pathOf, token, withFleet, type Replica } from './fleet.js';
import { until } from '../../../setup/until.js';

type Answering = (request: IncomingMessage, response: ServerResponse, key: string) => unknown;

const value = (key: string, text: string, secret = token): Promise<Buffer> =>
  framed(key, { packed: Buffer.from(text), leftMs: 60_000, ageMs: 0 }, secret);

const send = async (
  response: ServerResponse,
  body: Buffer | Promise<Buffer>,
  encoding?: string,
): Promise<void> => {
  if (encoding !== undefined) response.setHeader('content-encoding', encoding);
  response.end(await body);
};

async function otherVersion(key: string): Promise<Buffer> {
  const frame = await value(key, 'x');
  frame.writeUInt8(99, 4);
  return frame;
}

/** Faulty peers, and the error reason that counts them. */
const faults: Readonly<Record<string, readonly [answer: Answering, reason: string]>> = {
  'never answers': [() => undefined, 'timeout'],
  'answers 500': [(_, response) => response.writeHead(500).end('no'), 'status_500'],
  'answers 401': [(_, response) => response.writeHead(401).end(), 'status_401'],
  'answers with other bytes': [(_, response) => send(response, Buffer.from('x'.repeat(3_000))), 'damaged'],
  'answers with nothing': [(_, response) => response.end(), 'damaged'],
  'has another version': [(_, response, key) => send(response, otherVersion(key)), 'damaged'],
  'has another token': [
    (_, response, key) => send(response, value(key, 'x'.repeat(100), 'other')),
    'damaged',
  ],
  'answers with the value of another key': [
    (_, response, key) => send(response, value(`${key}x`, 'x')),
    'damaged',
  ],
  'says that it is compressed': [(_, response, key) => send(response, value(key, 'x'), 'gzip'), 'decode'],
  'compresses in an unknown way': [(_, response, key) => send(response, value(key, 'x'), 'br'), 'decode'],
  'cuts the connection': [(request) => request.socket.destroy(), 'transport'],
  'cuts the answer': [
    (request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('x'.repeat(100), () => request.socket.destroy());
    },
    'body_read',
  ],
  'announces a huge answer': [
    (_, response) => {
      response.writeHead(200, { 'content-length': String(64 * 1024 * 1024) });
      response.write('x');
    },
    'body_read',
  ],
  'sends a huge answer': [
    (_, response) => {
      const piece = Buffer.alloc(1024 * 1024);
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    },
    'body_read',
  ],
  drips: [
    (_, response) => {
      const timer = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(timer));
    },
    'timeout',
  ],
};

/** A fake member of a fleet with a custom response to get requests. */
async function peer(t: ExecutionContext, answer: Answering): Promise<string> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://peer');
    answer(request, response, searchParams.get('key') ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const numbers = Array.from({ length: 16 }, (_, number) => number);

async function answersOf(replica: Replica): Promise<readonly string[]> {
  return Promise.all(numbers.map((number) => ask(replica, pathOf(apps[number % apps.length] ?? '', number))));
}

for (const [name, [answer, reason]] of Object.entries(faults))
  test.serial(`a peer that ${name} is not believed, and costs no answer`, async (t) => {
    const backend = await filled(t);
    let right: readonly string[] = [];
    await withFleet({ backend: backend.url, replicas: 1 }, async ([only]) => {
      if (only !== undefined) right = await answersOf(only);
    });
    t.true(right.every((text, number) => text.includes(`0 ${apps[number % apps.length] ?? ''} 4`)));
    const others = [await peer(t, answer)];
    const isSlow = reason === 'timeout';
    const flags = isSlow ? { 'peer-timeout': '200ms', 'peer-patience': '50ms' } : {};
    await withFleet({ backend: backend.url, replicas: 1, others, flags }, async ([only]) => {
      if (only === undefined) return t.fail();
      t.deepEqual(await answersOf(only), right);
      const failed = async (): Promise<number> =>
        Number(await metric(only.url, `peer_cache_failures_total{reason="${reason}"}`));
      await until(async () => (await failed()) > 0);
      const told = await only.log.find((record) =>
        /^a peer failed|invalid (?:answer|value)/.test(String(record.get('body'))),
      );
      t.is(told.get('reason'), reason);
      t.false(only.log.records.some((record) => JSON.stringify([...record]).includes(token)));
      t.true(Number(await metric(only.url, 'peer_cache_errors_total')) > 0);
      if (isSlow) t.true(Number(await metric(only.url, 'peer_cache_late_total')) > 0);
      t.deepEqual(await answersOf(only), right);
    });
  });

test.serial(
  'a peer that answers late is not waited for, and what it has is kept for the next one',
  async (t) => {
    const backend = await filled(t);
    let address = '';
    // A slow server between the replicas.
    const slow = await peer(t, (request, response) => {
      const pass = async (): Promise<void> => {
        const answer = await fetch(`http://${address}${request.url ?? ''}`, {
          headers: request.headers as Record<string, string>,
        });
        response.writeHead(answer.status, { 'x-peer-making': answer.headers.get('x-peer-making') ?? '' });
        response.end(Buffer.from(await answer.arrayBuffer()));
      };
      setTimeout(() => void pass().catch(() => response.destroy()), 300);
    });
    await withFleet({ backend: backend.url, replicas: 1 }, async ([first]) => {
      if (first === undefined) return t.fail();
      address = first.address;
      const right = await answersOf(first);
      const flags = { 'peer-patience': '10ms', 'peer-write-through': 'false' };
      await withFleet({ backend: backend.url, replicas: 1, others: [slow], flags }, async ([second]) => {
        if (second === undefined) return t.fail();
        t.deepEqual(await answersOf(second), right);
        t.is(await metric(second.url, 'peer_cache_hits_total'), '0');
        t.is(await metric(second.url, 'peer_cache_late_total'), String(numbers.length));
        t.is(await metric(second.url, 'peer_cache_errors_total'), '0');
      });
    });
  },
);

test.serial(
  'a peer that fails again and again is not asked for a while, and what it owns belongs to others',
  async (t) => {
    const backend = await filled(t);
    let asked = 0;
    const broken = await peer(t, (_, response) => {
      asked += 1;
      response.writeHead(500).end();
    });
    await withFleet({ backend: backend.url, replicas: 2, others: [broken] }, async ([first, second]) => {
      if (first === undefined || second === undefined) return t.fail();
      const failures = async ({ url }: Replica): Promise<number> =>
        Number(await metric(url, 'peer_cache_errors_total'));
      let number = 0;
      for (; (await failures(first)) < 5 || (await failures(second)) < 5; number += 1) {
        await ask(first, pathOf('a', number));
        await ask(second, pathOf('a', number));
      }
      const before = asked;
      let shared = 0;
      for (const end = number + 16; number < end; number += 1) {
        const answer = await ask(first, pathOf('b', number));
        await until(async () => (await metric(first.url, 'peer_cache_write_through_waiting_bytes')) === '0');
        const calls = backend.stats().calls['/select/logsql/query'];
        t.is(await ask(second, pathOf('b', number)), answer);
        if (backend.stats().calls['/select/logsql/query'] === calls) shared += 1;
      }
      // On a slow machine, the peer is asked again in the meantime.
      t.true(shared >= 8, `${shared} of 16`);
      t.true(asked - before <= 16, `${asked - before} calls`);
    });
  },
);
