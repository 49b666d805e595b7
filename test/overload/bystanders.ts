import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Random } from '../watch/random.js';
import { largeRequest } from './mix.js';

export interface BystanderSettings {
  readonly url: string;
  readonly tenant: string;
  readonly endMs: number;
  readonly idle: number;
  readonly tails: number;
  readonly slow: number;
}

const openAtOnce = 20;
/** Slow readers start one after another, because their responses are expensive. */
const slowApartMs = 100;
/** A chunk is at most 64 KiB, so a slow reader needs some minutes for a response. */
const slowEveryMs = 8_000;
/** The delay before a rejected slow reader retries: slow readers are not part of the flood. */
const askAgainMs = 30_000;

/** Clients that stay connected during the flood: idle connections, open tails, and slow readers. */
export class Bystanders {
  readonly #idle: Socket[] = [];
  readonly #tails: WebSocket[] = [];
  readonly #slow: SlowReader[] = [];

  static async open(settings: BystanderSettings): Promise<Bystanders> {
    const all = new Bystanders();
    const { port, hostname } = new URL(settings.url);
    await inTurns(settings.idle, async (index) => {
      const localAddress = `127.0.4.${(index % 250) + 1}`;
      const socket = connect({ port: Number(port), host: hostname, localAddress });
      socket.on('error', () => undefined);
      all.#idle.push(socket);
      await once(socket, 'connect');
    });
    await inTurns(settings.tails, async () => {
      const query = encodeURIComponent('{app="nothing-comes"}');
      const address = `${settings.url.replace('http', 'ws')}/loki/api/v1/tail?query=${query}`;
      const socket = new WebSocket(address, { headers: { 'x-scope-orgid': settings.tenant } });
      socket.on('error', () => undefined);
      all.#tails.push(socket);
      await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
    });
    for (let index = 0; index < settings.slow; index += 1) {
      all.#slow.push(new SlowReader(settings, index));
      await sleep(slowApartMs);
    }
    return all;
  }

  /** The number of each kind that are still connected. */
  count(): { readonly idle: number; readonly tails: number; readonly slow: number } {
    return {
      idle: this.#idle.filter((socket) => socket.readyState === 'open').length,
      tails: this.#tails.filter((socket) => socket.readyState === WebSocket.OPEN).length,
      slow: this.#slow.filter((reader) => reader.hasRead).length,
    };
  }

  close(): void {
    for (const socket of this.#idle) socket.destroy();
    for (const socket of this.#tails) socket.terminate();
    for (const reader of this.#slow) reader.close();
  }
}

/** Requests many lines, and occasionally reads a little of the response. */
class SlowReader {
  readonly #settings: BystanderSettings;
  readonly #random: Random;
  readonly #timer: NodeJS.Timeout;
  #socket: Socket;
  #askedMs = 0;
  hasRead = false;

  constructor(settings: BystanderSettings, index: number) {
    this.#settings = settings;
    this.#random = new Random(index);
    this.#socket = this.#ask();
    this.#timer = setInterval(() => this.#takeSome(), slowEveryMs);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.destroy();
  }

  #ask(): Socket {
    const { url, tenant, endMs } = this.#settings;
    const { port, hostname } = new URL(url);
    this.#askedMs = performance.now();
    const socket = connect({ port: Number(port), host: hostname });
    socket.on('error', () => undefined);
    socket.pause();
    const path = largeRequest.path(this.#random, endMs);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nX-Scope-OrgID: ${tenant}\r\nConnection: close\r\n\r\n`,
    );
    socket.on('data', () => {
      this.hasRead = true;
      socket.pause();
    });
    return socket;
  }

  #takeSome(): void {
    if (!this.#socket.destroyed) this.#socket.resume();
    else if (performance.now() - this.#askedMs >= askAgainMs) this.#socket = this.#ask();
  }
}

async function inTurns(count: number, open: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await open(next++);
  };
  await Promise.all(Array.from({ length: openAtOnce }, worker));
}
