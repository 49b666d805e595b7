import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogcliCase, Printed } from './types.js';

const timeLimitMs = 60_000;

/** Starts the program without the environment variables and files that it would read. */
export function startLogcli(program: string, address: string, args: readonly string[]): ChildProcess {
  return spawn(program, [`--addr=${address}`, '--timezone=UTC', ...args], {
    env: { TZ: 'UTC', HOME: tmpdir() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs one case against an address. */
export async function runLogcli(program: string, address: string, each: LogcliCase): Promise<Printed> {
  const folder = await mkdtemp(join(tmpdir(), 'logcli-'));
  try {
    const orgId = each.orgId ?? 't1';
    const args = [
      ...(orgId === '' ? [] : [`--org-id=${orgId}`]),
      each.command,
      ...each.args.map((arg) => arg.replace('{tmp}', folder).replace('{address}', address)),
    ];
    const child = startLogcli(program, address, args);
    const deadline = setTimeout(() => child.kill('SIGKILL'), timeLimitMs);
    const texts = await Promise.all([textOf(child.stdout), textOf(child.stderr), exitOf(child)]);
    clearTimeout(deadline);
    const [stdout, stderr, exitCode] = texts;
    const clean = (text: string): string => withoutSurroundings(text.replaceAll(folder, '{tmp}'), address);
    return { stdout: clean(stdout), stderr: clean(stderr), exitCode, files: await filesOf(folder) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Removes the address and the clock, and reduces an error body of the proxy to its text (docs/differences.md: error bodies). */
export function withoutSurroundings(text: string, address: string): string {
  return text
    .replaceAll(address, 'http://server')
    .replaceAll(address.replace('http', 'ws'), 'ws://server')
    .replaceAll(errorBody, errorTextOf)
    .split('\n')
    .map((line) => line.replace(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /, ''))
    .map((line) => line.replace(/\b(start|end|time)=(\d{19})\b/g, hideNow))
    .join('\n');
}

/** The error body in a client's message, with its final line break; the client's own words follow. */
const errorBody = /(?<=error response from server: )(?:(\{"[^\n]*\})\n|[^\n]*\n(?= \())/gi;

/** The text of the proxy's JSON error body, or Loki's plain text; both without a final line break. */
function errorTextOf(all: string, json: string | undefined): string {
  if (json === undefined) return all.trimEnd();
  const body: unknown = JSON.parse(json);
  const hasText = typeof body === 'object' && body !== null && 'message' in body;
  return hasText && typeof body.message === 'string' ? body.message.trimEnd() : all;
}

/** Hides times that were computed from the clock, which differ between runs; keeps times of the data. */
function hideNow(all: string, name: string, ns: string): string {
  const ageMs = Date.now() - Number(ns.slice(0, 13));
  const isFromClock = !ns.endsWith('000000') && !ns.endsWith('123456789');
  return isFromClock && ageMs < 100 * 24 * 3_600_000 ? `${name}=now` : all;
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  if (stream === null) return text;
  stream.setEncoding('utf8');
  for await (const chunk of stream) text += String(chunk);
  return text;
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
}

async function filesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(folder)).sort();
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
}
