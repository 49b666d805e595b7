import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { withProxy, type FakeClock, type ProxyUnderTest } from '../../../core/testing/index.js';

/** A proxy with its own backend. */
export interface Tailing extends ProxyUnderTest {
  readonly backend: DevBackend;
}

interface TailsSetting {
  readonly tenancy?: Readonly<Record<string, unknown>>;
  readonly clock?: FakeClock;
}

/** Starts both, with options of the tail plugin and of tenancy as in YAML. If given, the clock applies to both. */
export async function withTails(
  options: Readonly<Record<string, unknown>>,
  use: (under: Tailing) => Promise<void>,
  { tenancy = {}, clock }: TailsSetting = {},
): Promise<void> {
  const backend = await startDevBackend(clock === undefined ? {} : { nowNs: () => clock.nowNs() });
  const tail = { refreshInterval: '20ms', reorderWindow: '40ms', ...options };
  const yaml = `
version: 1
telemetry: { registerInstrumentation: true }
stages:
  - use: tenancy
    with: ${JSON.stringify(tenancy)}
  - use: guard
  - use: tier0
  - use: translate
  - use: peer-cache
  - use: backend
    with: { url: '${backend.url}' }
  - use: response-shape
endpoints:
  - use: reference-api
  - use: tail
    with: ${JSON.stringify(tail)}
  - use: status
`;
  try {
    await withProxy(yaml, (under) => use({ ...under, backend }), clock === undefined ? {} : { clock });
  } finally {
    await backend.close();
  }
}

export interface Line {
  readonly text: string;
  /** Milliseconds before now. */
  readonly ageMs?: number;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Stores lines in the stream {app="a"}. */
export async function push(url: string, lines: readonly Line[], now = Date.now()): Promise<void> {
  const rows = lines.map(({ text, ageMs = 0, fields = {} }, index) => ({
    _time: String(BigInt(now - ageMs) * 1_000_000n + BigInt(index)),
    _msg: text,
    app: 'a',
    ...fields,
  }));
  const body = rows.map((row) => JSON.stringify(row)).join('\n');
  const response = await fetch(`${url}/insert/jsonline?_stream_fields=app`, { method: 'POST', body });
  if (response.status !== 200) throw new Error(await response.text());
}

export interface Frame {
  readonly streams: readonly {
    readonly stream: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [string, string, unknown?])[];
  }[];
  readonly encodingFlags?: readonly string[];
  readonly dropped_entries?: readonly unknown[];
}

/** A client that stores its frames, and lets a test wait for them. */
export class TailClient {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  readonly #closed: Promise<readonly [code: number, reason: string]>;
  #waiting: (() => void)[] = [];

  constructor(url: string, params: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
    const query = new URLSearchParams(params).toString();
    const path = params['path'] ?? '/loki/api/v1/tail';
    this.socket = new WebSocket(`${url.replace('http', 'ws')}${path}?${query}`, { headers });
    this.socket.on('message', (data: Buffer) => {
      // The test asserts on the content.
      this.frames.push(JSON.parse(data.toString('utf8')) as Frame);
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.socket.on('error', () => undefined);
    this.#closed = new Promise((resolve) => {
      this.socket.once('close', (code, reason) => resolve([code, reason.toString('utf8')]));
    });
  }

  async opened(): Promise<this> {
    await once(this.socket, 'open');
    return this;
  }

  /** Lines in the order of arrival. */
  get lines(): readonly string[] {
    return this.frames.flatMap(({ streams }) =>
      streams.flatMap(({ values }) => values.map(([, line]) => line)),
    );
  }

  /** Waits for `count` lines. */
  async untilLines(count: number): Promise<readonly string[]> {
    while (this.lines.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.lines;
  }

  closed(): Promise<readonly [code: number, reason: string]> {
    return this.#closed;
  }

  /** The HTTP response to a rejected handshake. */
  async refused(): Promise<{ readonly status: number | undefined; readonly body: string }> {
    // The event's arguments are typed by ws, but not through events.once.
    const [, response] = (await once(this.socket, 'unexpected-response')) as [ClientRequest, IncomingMessage];
    let body = '';
    for await (const chunk of response) body += String(chunk);
    return { status: response.statusCode, body };
  }
}

export const all = { query: '{app="a"}' };
