import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { runProgram } from '../../../../core/program/program.js';

export interface Asked {
  readonly path: string;
  readonly params: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** An HTTP server that responds like Loki, and the requests that it received. */
export async function lokiOf(
  t: ExecutionContext,
  answer: (asked: Asked, count: number) => unknown,
): Promise<{ readonly url: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const server: Server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://loki');
    const one: Asked = { path: pathname, params: searchParams, headers: incoming.headers };
    asked.push(one);
    const body = answer(one, asked.length);
    if (body instanceof Refusal) response.writeHead(body.status).end(body.text);
    else if (body !== 'no answer')
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export class Refusal {
  constructor(
    readonly status: number,
    readonly text: string,
  ) {}
}

export type Entry = readonly [ns: string, line: string];

export function streams(
  ...list: readonly (readonly [labels: Record<string, string>, ...entries: Entry[]])[]
): unknown {
  const result = list.map(([stream, ...values]) => ({ stream, values }));
  return { status: 'success', data: { resultType: 'streams', result, stats: {} } };
}

export type Point = readonly [seconds: number, value: string];

export function matrix(
  ...list: readonly (readonly [labels: Record<string, string>, ...points: Point[]])[]
): unknown {
  const result = list.map(([metric, ...values]) => ({ metric, values }));
  return { status: 'success', data: { resultType: 'matrix', result, stats: {} } };
}

export function vector(
  ...list: readonly (readonly [labels: Record<string, string>, point: Point])[]
): unknown {
  const result = list.map(([metric, value]) => ({ metric, value }));
  return { status: 'success', data: { resultType: 'vector', result, stats: {} } };
}

/** Runs `ref-proxy compare`. */
export async function runCompare(
  ...args: readonly string[]
): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
  let out = '';
  let err = '';
  const io = { out: (text: string) => (out += text), err: (text: string) => (err += text), env: {} };
  return { status: await runProgram(['compare', ...args], io), out, err };
}

export const until = '-until=2026-11-01T12:00:00Z';
export const fast = '-rate=1000';

/** A file that is removed after the test. */
export async function fileOf(t: ExecutionContext, name: string, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-compare-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}
