import type { ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { createGzip, type Gzip } from 'node:zlib';

import { ClientGoneError } from './errors.js';
import { sleep } from '../../../core/base/time/waits.js';

/** As on the real server, bodies up to this size are sent uncompressed and in one piece. */
const SMALL_BODY_CHARS = 4096;
const CHUNK_CHARS = 32 * 1024;
const PIECE_CHARS = 256 * 1024;

/** The text that breaks the chunked framing when an answer cannot be completed (docs/protocol/victorialogs.md#failures). */
const ABORT_TEXT =
  'the connection has been aborted; see the last line in the response and/or in the server log for the reason';

export interface ResponseOptions {
  readonly acceptsGzip: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Called with the number of bytes of each piece passed to the socket. */
  readonly onBytes: (bytes: number) => void;
  /** Delay before each piece: the "trickle" fault. */
  readonly pieceDelayMs?: number;
}

/** A text response written piece by piece, with gzip if requested and large enough, and with back-pressure. */
export class ResponseWriter {
  readonly #res: ServerResponse;
  readonly #options: ResponseOptions;
  readonly #startedAt = process.hrtime.bigint();
  #status = 200;
  #contentType = 'text/plain; charset=utf-8';
  #pending = '';
  /** Complete pieces before `#pending`, if much is written between two flushes. */
  #pieces: string[] = [];
  #gzip: Gzip | undefined;
  #gzipDone: Promise<void> = Promise.resolve();
  #plain = false;
  #isCut = false;

  constructor(res: ServerResponse, options: ResponseOptions) {
    this.#res = res;
    this.#options = options;
  }

  /** True if status and headers have been sent and can no longer change. */
  get started(): boolean {
    return this.#res.headersSent;
  }

  /** Sets status and content type; before the first flush. */
  begin(status: number, contentType: string): void {
    this.#status = status;
    this.#contentType = contentType;
  }

  /** Adds text; nothing is sent before `flush`, `flushLarge` or `end`. */
  write(text: string): void {
    this.#pending += text;
    if (this.#pending.length < PIECE_CHARS) return;
    this.#pieces.push(this.#pending);
    this.#pending = '';
  }

  /** Drops the buffered text, so that something else can be answered. */
  discard(): void {
    this.#take();
  }

  /** Sends the buffered text once it is large enough; resolves when the client has taken it. */
  async flushLarge(): Promise<void> {
    if (this.#pieces.length > 0 || this.#pending.length >= CHUNK_CHARS) await this.flush();
  }

  /** Sends headers now, uncompressed, which shows the client of a live tail immediately that it is connected. */
  sendHeadersPlain(): void {
    this.#plain = true;
    this.#writeHead({});
    this.#res.flushHeaders();
  }

  /** Sends the buffered text and resolves when the client has taken it. */
  async flush(): Promise<void> {
    for (const piece of this.#take()) {
      if (!this.started) this.#startStream();
      await this.#send(Buffer.from(piece, 'utf8'));
    }
  }

  /** Completes the response. */
  async end(): Promise<void> {
    if (this.#isCut) return;
    if (!this.started && this.#pieces.length === 0 && this.#fitsWhole()) {
      const body = Buffer.from(this.#take().join(''), 'utf8');
      this.#writeHead(this.#status === 204 ? {} : { 'Content-Length': String(body.length) });
      this.#options.onBytes(body.length);
      await this.#delay();
      this.#res.end(body);
      return;
    }
    await this.flush();
    this.#gzip?.end();
    await this.#gzipDone;
    this.#res.end();
  }

  #fitsWhole(): boolean {
    return !this.#options.acceptsGzip || this.#pending.length <= SMALL_BODY_CHARS;
  }

  /** Sends the buffered text, then breaks the chunked framing and closes, so that no client takes the answer for complete. */
  async abort(): Promise<void> {
    await this.flush();
    if (!this.started) this.#startStream();
    this.#gzip?.end();
    await this.#gzipDone;
    this.#res.flushHeaders();
    this.#res.socket?.end(ABORT_TEXT);
  }

  /** Drops the connection after the flushed text, without ending the answer: an injected fault. */
  cut(): void {
    this.#isCut = true;
    // The pieces written in this turn only reach the socket after it.
    setImmediate(() => this.#res.socket?.destroySoon());
  }

  #take(): string[] {
    const pieces = [...this.#pieces, this.#pending].filter((piece) => piece !== '');
    this.#pieces = [];
    this.#pending = '';
    return pieces;
  }

  #writeHead(extra: Readonly<Record<string, string>>): void {
    const seconds = Number(process.hrtime.bigint() - this.#startedAt) / 1e9;
    this.#res.writeHead(this.#status, {
      ...(this.#status === 204 ? {} : { 'Content-Type': this.#contentType }),
      'Access-Control-Allow-Origin': '*',
      'X-Server-Hostname': hostname(),
      'VL-Request-Duration-Seconds': seconds.toFixed(3),
      ...this.#options.headers,
      ...extra,
    });
  }

  #startStream(): void {
    if (!this.#options.acceptsGzip || this.#plain) {
      this.#writeHead({});
      return;
    }
    this.#writeHead({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
    const gzip = createGzip({ level: 1 });
    this.#gzip = gzip;
    this.#gzipDone = new Promise((resolve) => {
      gzip.once('end', () => resolve());
      gzip.once('close', () => resolve());
    });
    gzip.on('data', (piece: Buffer) => {
      this.#options.onBytes(piece.length);
      if (!this.#res.write(piece)) {
        gzip.pause();
        this.#res.once('drain', () => gzip.resume());
      }
    });
    this.#res.once('close', () => gzip.destroy());
  }

  async #send(piece: Buffer): Promise<void> {
    await this.#delay();
    this.#throwIfGone();
    if (this.#gzip !== undefined) {
      const gzip = this.#gzip;
      await new Promise<void>((resolve, reject) => {
        const gone = (): void => reject(new ClientGoneError());
        this.#res.once('close', gone);
        gzip.write(piece, () => {
          gzip.flush(() => {
            this.#res.off('close', gone);
            resolve();
          });
        });
      });
      return;
    }
    this.#options.onBytes(piece.length);
    if (!this.#res.write(piece)) {
      await this.#drained();
      this.#throwIfGone();
    }
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#res.off('drain', done);
        this.#res.off('close', done);
        resolve();
      };
      this.#res.once('drain', done);
      this.#res.once('close', done);
    });
  }

  #throwIfGone(): void {
    if (this.#res.destroyed) throw new ClientGoneError();
  }

  async #delay(): Promise<void> {
    const ms = this.#options.pieceDelayMs;
    if (ms !== undefined && ms > 0) await sleep(ms);
  }
}
