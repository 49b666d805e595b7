import { startTimer } from '../base/time/waits.js';

/**
 * One end of the channel between the first process and a worker. Each end sends requests and answers them, by topic. The number of open
 * requests, the size of a message and the time for an answer are bounded.
 */

/** A kind of request with the types of request and answer, both plain JSON data. */
export interface Topic<Asked, Answered> {
  readonly name: string;
  /** Never set: it only carries the types. */
  readonly types?: (asked: Asked) => Answered;
}

/** The body is JSON text: its length is known, and it is copied between processes as one text. */
export type Message =
  | { readonly kind: 'ask'; readonly id: number; readonly topic: string; readonly body: string }
  | { readonly kind: 'tell'; readonly topic: string; readonly body: string }
  | { readonly kind: 'answer'; readonly id: number; readonly body: string }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

/** Sends a message to the other end; returns false when the connection is closed. */
export type Send = (message: Message) => boolean;

export interface ChannelBounds {
  /** Maximum number of requests without an answer. */
  readonly maxOpen: number;
  /** Maximum length of a message, in characters. */
  readonly maxLength: number;
}

const defaultBounds: ChannelBounds = { maxOpen: 1_024, maxLength: 32 * 2 ** 20 };

interface Open {
  readonly settle: (body: string) => void;
  readonly fail: (reason: string) => void;
}

type Handler = (body: string) => string | Promise<string>;

/** A request got no answer; the message gives the reason. */
export class NoAnswer extends Error {
  constructor(
    reason: string,
    /** True if the other end may have received the request. */
    readonly wasSent: boolean,
  ) {
    super(reason);
  }
}

export class Channel {
  readonly #send: Send;
  readonly #bounds: ChannelBounds;
  readonly #handlers: Map<string, Handler>;
  readonly #open = new Map<number, Open>();
  #lastId = 0;

  /** Channels may share their handlers. */
  constructor(send: Send, handlers = new Map<string, Handler>(), bounds = defaultBounds) {
    this.#send = send;
    this.#handlers = handlers;
    this.#bounds = bounds;
  }

  answer<Asked, Answered>(
    { name }: Topic<Asked, Answered>,
    handler: (asked: Asked) => Answered | Promise<Answered>,
  ): void {
    this.#handlers.set(name, (body) => {
      // Both ends run this program, and the topic implies the type.
      const answered = handler(JSON.parse(body) as Asked);
      return answered instanceof Promise ? answered.then(textOf) : textOf(answered);
    });
  }

  /** Sends a request. Rejects with NoAnswer on failure, timeout or a closed connection. */
  async ask<Asked, Answered>(
    { name }: Topic<Asked, Answered>,
    asked: Asked,
    boundMs: number,
  ): Promise<Answered> {
    const body = textOf(asked);
    const { maxOpen } = this.#bounds;
    if (this.#open.size >= maxOpen)
      throw new NoAnswer(`${maxOpen} requests are already waiting for an answer`, false);
    const id = (this.#lastId += 1);
    const answered = await new Promise<string>((resolve, reject) => {
      const over = (): void => {
        clearTimeout(timer);
        this.#open.delete(id);
      };
      const fail = (reason: string, wasSent = true): void => {
        over();
        reject(new NoAnswer(reason, wasSent));
      };
      const settle = (text: string): void => {
        over();
        resolve(text);
      };
      const timer = startTimer(() => fail(`no answer within ${boundMs} ms`), boundMs);
      this.#open.set(id, { settle, fail });
      const reason = this.#post({ kind: 'ask', id, topic: name, body }, body);
      if (reason !== undefined) fail(reason, false);
    });
    return JSON.parse(answered) as Answered;
  }

  /** Sends a message that needs no answer. */
  tell<Told>({ name }: Topic<Told, unknown>, told: Told): void {
    const body = textOf(told);
    this.#post({ kind: 'tell', topic: name, body }, body);
  }

  /** Handles a message from the other end. */
  receive(message: Message): void {
    if (message.kind === 'ask') void this.#answerTo(message);
    else if (message.kind === 'tell') void this.#handlers.get(message.topic)?.(message.body);
    else if (message.kind === 'answer') this.#open.get(message.id)?.settle(message.body);
    else this.#open.get(message.id)?.fail(message.reason);
  }

  /** Fails all open requests, because the connection is closed. */
  close(): void {
    for (const { fail } of [...this.#open.values()]) fail('the channel is closed');
  }

  async #answerTo({ id, topic, body }: Extract<Message, { kind: 'ask' }>): Promise<void> {
    let reason: string | undefined;
    try {
      const handler = this.#handlers.get(topic);
      if (handler === undefined) throw new Error(`no handler for ${topic}`);
      const answered = handler(body);
      const text = answered instanceof Promise ? await answered : answered;
      reason = this.#post({ kind: 'answer', id, body: text }, text);
    } catch (error) {
      reason = error instanceof Error ? error.message : 'failed';
    }
    if (reason !== undefined) this.#send({ kind: 'failed', id, reason });
  }

  /** Sends a message; returns the reason if that failed. */
  #post(message: Message, { length }: string): string | undefined {
    const { maxLength } = this.#bounds;
    if (length > maxLength) return `a message of ${length} characters is longer than ${maxLength}`;
    return this.#send(message) ? undefined : 'the channel is closed';
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}
