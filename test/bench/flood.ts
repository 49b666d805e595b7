/** Requests one URL over several connections as fast as the responses arrive, in its own process. The parent process sends the order. */
import { connect } from 'node:net';

export interface FloodOrder {
  readonly port: number;
  readonly path: string;
  readonly tenant: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface FloodResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

process.once('message', (order: FloodOrder) => {
  flood(order).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.once('disconnect', () => process.exit());

async function flood({ port, path, tenant, connections, seconds }: FloodOrder): Promise<FloodResult> {
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Scope-OrgID: ${tenant}\r\n\r\n`;
  const times: number[] = [];
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;
  // Uses one connection after another: a server may close one with a response, which is then shorter.
  const askInTurn = async (): Promise<void> => {
    while (performance.now() < endAt) await askOnOne(port, request, endAt, times);
  };
  await Promise.all(Array.from({ length: connections }, askInTurn));
  const tookMs = performance.now() - startedAt;
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? NaN;
  return { perSecond: times.length / (tookMs / 1000), p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** The length of a response according to its head: several processes may have produced responses that differ in their statistics. */
function lengthOf(chunk: Buffer): number {
  const end = chunk.indexOf('\r\n\r\n');
  const body = /content-length: (\d+)/i.exec(chunk.toString('latin1', 0, end))?.[1];
  return body === undefined ? NaN : end + 4 + Number(body);
}

function askOnOne(port: number, request: string, endAt: number, times: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let askedAt = 0;
    let got = 0;
    let length = 0;
    const next = (): void => {
      askedAt = performance.now();
      got = 0;
      socket.write(request);
    };
    const socket = connect(port, '127.0.0.1', next).setNoDelay();
    socket.on('error', reject);
    socket.on('close', () => {
      if (got > 0 && got < length) times.push(performance.now() - askedAt);
      resolve();
    });
    socket.on('data', (chunk: Buffer) => {
      if (got === 0) length = chunk.toString('latin1', 9, 12) === '200' ? lengthOf(chunk) : NaN;
      if (Number.isNaN(length)) {
        reject(new Error(chunk.toString('latin1', 0, 500)));
        socket.destroy();
        return;
      }
      got += chunk.length;
      if (got < length) return;
      const now = performance.now();
      times.push(now - askedAt);
      if (now < endAt) next();
      else socket.destroy();
    });
  });
}
