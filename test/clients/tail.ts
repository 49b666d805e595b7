import WebSocket from 'ws';
import { json, list, members, stringMap, strings, text } from './check.js';
import { browserQuery, type Http, type Pairs } from './http.js';

/** A line received from a tail. */
export interface TailLine {
  readonly timestampNs: string;
  readonly line: string;
  readonly labels: ReadonlyMap<string, string>;
}

/** One text frame of a tail. */
export interface TailFrame {
  readonly streams: readonly {
    readonly labels: ReadonlyMap<string, string>;
    readonly lines: readonly TailLine[];
  }[];
}

/** A live tail as clients open it; every wait has a timeout. */
export class Tail {
  readonly frames: TailFrame[] = [];
  readonly #socket: WebSocket;
  #pings = 0;
  #problem: Error | undefined;
  #close: readonly [code: number, reason: string] | undefined;
  #changed: (() => void)[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('ping', () => this.#change(() => (this.#pings += 1)));
    socket.on('close', (code, reason) => this.#change(() => (this.#close = [code, reason.toString()])));
    socket.on('error', (error) => this.#change(() => (this.#problem = error)));
  }

  /** Opens a tail; rejects unless the response is 101. */
  static async open(http: Http, pairs: Pairs, headers: Readonly<Record<string, string>>): Promise<Tail> {
    const socket = connect(http, pairs, headers);
    const tail = new Tail(socket);
    await tail.#until('the upgrade', () => socket.readyState === socket.OPEN || tail.#close !== undefined);
    return tail;
  }

  /** Requests a tail that must be rejected before the upgrade. */
  static async refused(
    http: Http,
    pairs: Pairs,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly body: string }> {
    const socket = connect(http, pairs, headers);
    return new Promise((resolve, reject) => {
      socket.on('open', () => reject(new Error('the tail was upgraded')));
      socket.on('error', reject);
      socket.on('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      });
    });
  }

  get lines(): readonly TailLine[] {
    return this.frames.flatMap(({ streams }) => streams.flatMap(({ lines }) => lines));
  }

  /** Waits for `count` lines; returns all lines so far. */
  async untilLines(count: number): Promise<readonly TailLine[]> {
    await this.#until(`${count} lines`, () => this.lines.length >= count);
    return this.lines;
  }

  async untilPings(count: number): Promise<void> {
    await this.#until(`${count} pings`, () => this.#pings >= count);
  }

  /** Close code and reason from the server. */
  async closed(): Promise<readonly [code: number, reason: string]> {
    await this.#until('the close', () => this.#close !== undefined);
    return this.#close ?? [0, ''];
  }

  end(): void {
    this.#socket.terminate();
  }

  #take(data: WebSocket.RawData, isBinary: boolean): void {
    this.#change(() => {
      try {
        if (isBinary) throw new Error('a binary frame');
        this.frames.push(readFrame((data as Buffer).toString('utf8')));
      } catch (error) {
        this.#problem = error instanceof Error ? error : new Error(String(error));
      }
    });
  }

  #change(change: () => void): void {
    change();
    const waiting = this.#changed;
    this.#changed = [];
    for (const wake of waiting) wake();
  }

  async #until(what: string, isThere: () => boolean): Promise<void> {
    const wait = { isOver: false };
    const timer = setTimeout(() => this.#change(() => (wait.isOver = true)), 20_000);
    try {
      while (!isThere()) {
        if (this.#problem !== undefined) throw this.#problem;
        if (this.#close !== undefined) throw new Error(`closed with ${this.#close.join(' ')} before ${what}`);
        if (wait.isOver) throw new Error(`waited in vain for ${what}`);
        await new Promise<void>((resolve) => this.#changed.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

function connect(http: Http, pairs: Pairs, headers: Readonly<Record<string, string>>): WebSocket {
  http.sent.add('WS', '/loki/api/v1/tail');
  const url = http.url.replace(/^http/, 'ws');
  // Grafana and the other clients send no Origin.
  return new WebSocket(`${url}/loki/api/v1/tail?${browserQuery(pairs)}`, {
    headers,
    perMessageDeflate: false,
  });
}

function readFrame(body: string): TailFrame {
  const frame = members(json(body, 'a frame'), 'a frame');
  const streams = list(frame.get('streams'), 'streams').map((item) => {
    const stream = members(item, 'a stream');
    const labels = stringMap(stream.get('stream'), 'labels of a stream');
    const lines = list(stream.get('values'), 'values').map((value) => {
      const [timestampNs, line] = strings(list(value, 'a tuple').slice(0, 2), 'a tuple');
      return { timestampNs: text(timestampNs, 'a time'), line: text(line, 'a line'), labels };
    });
    return { labels, lines };
  });
  return { streams };
}
