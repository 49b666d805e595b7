import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { request } from 'undici';
import { startDevBackend, type DevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { runProgram } from '../../../../core/program/program.js';

/** End of the logs: a whole hour, so that spans are not aligned to another time. */
export const endMs = 1_793_491_200_000;
const minutes = 60;

/** An embedded backend with an hour of logs: a web server, services that write logfmt and JSON, and logins. */
export async function backendWithLogs(): Promise<DevBackend> {
  const backend = await startDevBackend();
  const streams = [
    streamOf({ job: 'web', namespace: 'edge', pod: 'web-1' }, webLine),
    streamOf({ app: 'cart', namespace: 'shop', pod: 'cart-1' }, logfmtLine),
    streamOf({ app: 'cart', namespace: 'shop', pod: 'cart-2' }, logfmtLine),
    streamOf({ app: 'orders', namespace: 'shop', pod: 'orders-1' }, orderLine),
    streamOf({ job: 'auth', namespace: 'infra', pod: 'auth-1', host: 'bastion' }, loginLine),
  ];
  const { statusCode } = await request(`${backend.url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  if (statusCode !== 204) throw new Error(`the backend answers with ${statusCode}`);
  return backend;
}

/** Four lines per minute, at different nanoseconds. */
function streamOf(stream: Readonly<Record<string, string>>, lineOf: (n: number) => string): unknown {
  const values = Array.from({ length: 4 * minutes }, (_, n) => [
    `${endMs - n * 15_000 - 7_000}${String(n).padStart(6, '0')}`,
    lineOf(n),
  ]);
  return { stream, values };
}

function webLine(n: number): string {
  const status = n % 17 === 0 ? 503 : n % 5 === 0 ? 404 : 200;
  return JSON.stringify({
    method: n % 3 === 0 ? 'POST' : 'GET',
    path: `/p${n % 4}`,
    status,
    took: n % 50,
    bytes: n,
  });
}

function logfmtLine(n: number): string {
  const level = n % 11 === 0 ? 'error' : n % 4 === 0 ? 'warn' : 'info';
  return `level=${level} caller=cart.go:${n % 9} duration=${n % 40}ms msg="item ${n % 6} added"`;
}

function orderLine(n: number): string {
  const msg = n % 3 === 0 ? 'order placed' : 'order viewed';
  return JSON.stringify({
    level: 'info',
    msg,
    country: ['de', 'fr', 'it'][n % 3],
    cents: (n % 30) * 5,
    weight: (n % 30) + 0.1,
  });
}

function loginLine(n: number): string {
  const [user, ip] = [`user${n % 5}`, `10.0.${n % 2}.${n % 7}`];
  return n % 4 === 0
    ? `sshd: Accepted publickey for ${user} from ${ip} port 22`
    : `sshd: Failed password for ${user} from ${ip} port 22`;
}

export interface ProgramRun {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

export async function runTool(...args: readonly string[]): Promise<ProgramRun> {
  let [out, err] = ['', ''];
  const io = { out: (text: string) => (out += text), err: (text: string) => (err += text), env: {} };
  return { status: await runProgram(args, io), out, err };
}

/** A file that is removed after the test. */
export async function fileOf(t: ExecutionContext, name: string, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-audit-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}
