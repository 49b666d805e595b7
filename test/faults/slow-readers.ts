import { connect } from 'node:net';
import { openPair } from '../fuzz/pair.js';
import { Random } from '../watch/random.js';
import { framingWays } from './framing-ways-table.js';
import type { Action, BackendReply } from './wire.js';

/** Framings after which the connection closes: the end may arrive while the proxy applies backpressure to the backend. */
const names = ['a length, then the connection closes', 'no framing but the close', 'HTTP/1.0 with close'];

const range = { start: '1793494800000000000', end: '1793516400000000000' };

/** Queries that return all rows, and that take the proxy longer to process, or its client longer to read, than the backend to send. */
const questions: readonly Readonly<Record<string, string>>[] = [
  {
    query:
      'sum by (level) (count_over_time({env=~".+"} | line_format "{{ __line__ | trunc 50 }}" | json | __error__="" [1m]))',
    step: '60',
  },
  { query: '{env=~".+"}', limit: '5000' },
];
const targets = [...questions, ...questions].map(
  (question) => `/loki/api/v1/query_range?${new URLSearchParams({ ...range, ...question }).toString()}`,
);

/** Requests large responses over connections that close, and reads slowly; returns the problems. */
export async function readSlowly(rounds: number): Promise<readonly string[]> {
  const offences: string[] = [];
  const pair = await openPair(['-backend-timeout=60s']);
  try {
    pair.relay.expect(framed);
    for (let round = 0; round < rounds && pair.proxy.ending === undefined; round += 1) {
      const statuses = await Promise.all(targets.map((target) => slowStatus(pair.proxy.url, target)));
      for (const status of statuses)
        if (status !== 200) offences.push(`round ${round}: ${status === 0 ? 'no answer' : status}`);
    }
    const { ending } = pair.proxy;
    if (ending !== undefined) offences.push(`it died: ${ending.lastWords.slice(-600)}`);
  } finally {
    await pair.close();
  }
  return offences;
}

function framed(reply: BackendReply, call: number): readonly Action[] | undefined {
  const name = names[call % names.length];
  return framingWays.find((way) => way.name === name)?.actions(reply, new Random(call));
}

const readEveryMs = 5;

/** The status of a response that is read in small steps. */
function slowStatus(url: string, target: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: hostname });
    let start = '';
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-Scope-OrgID: t1\r\nConnection: close\r\n\r\n`);
    socket.on('data', (chunk) => {
      if (start.length < 100) start += chunk.toString('latin1');
      socket.pause();
      setTimeout(() => socket.resume(), readEveryMs);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(start)?.[1] ?? 0)));
  });
}
