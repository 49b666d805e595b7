/**
 * One end of the channel between the first process and a worker: each end asks and answers by topic. Bounded in the number of questions that
 * are open, in the size of a message and in the time of an answer.
 */

/** What is asked by a name, and what is answered; both plain data that JSON holds. */
export interface Topic<Asked, Answered> {
  readonly name: string;
  /** Never there: holds the types. */
  readonly types?: (asked: Asked) => Answered;
}

/** The body is JSON: its length is known, and between processes it is copied as one text. */
export type Message =
  | { readonly kind: 'ask'; readonly id: number; readonly topic: string; readonly body: string }
  | { readonly kind: 'tell'; readonly topic: string; readonly body: string }
  | { readonly kind: 'answer'; readonly id: number; readonly body: string }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string };

/** Carries messages to the other end; false when it is gone. */
export type Send = (message: Message) => boolean;

export interface ChannelBounds {
  /** Questions that wait for an answer. */
  readonly maxOpen: number;
  /** Characters of a message. */
  readonly maxLength: number;
}

const defaultBounds: ChannelBounds = { maxOpen: 1_024, maxLength: 32 * 2 ** 20 };

interface Open {
  readonly settle: (body: string) => void;
  readonly fail: (reason: string) => void;
}

type Handler = (body: string) => string | Promise<string>;

/** A question got no answer: the message tells why. */
export class NoAnswer extends Error {
  constructor(
    reason: string,
    /** Whether the other end may have heard it. */
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

  /** Lines may share their handlers. */
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
      // Both ends are this program, and the topic says what it carries.
      const answered = handler(JSON.parse(body) as Asked);
      return answered instanceof Promise ? answered.then(textOf) : textOf(answered);
    });
  }

  /** Rejects with NoAnswer when the other end fails, is gone or takes longer. */
  async ask<Asked, Answered>(
    { name }: Topic<Asked, Answered>,
    asked: Asked,
    boundMs: number,
  ): Promise<Answered> {
    const body = textOf(asked);
    const { maxOpen } = this.#bounds;
    if (this.#open.size >= maxOpen)
      throw new NoAnswer(`${maxOpen} questions wait for an answer already`, false);
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
      const timer = setTimeout(() => fail(`no answer within ${boundMs} ms`), boundMs);
      this.#open.set(id, { settle, fail });
      const reason = this.#post({ kind: 'ask', id, topic: name, body }, body);
      if (reason !== undefined) fail(reason, false);
    });
    return JSON.parse(answered) as Answered;
  }

  /** Tells without an answer. */
  tell<Told>({ name }: Topic<Told, unknown>, told: Told): void {
    const body = textOf(told);
    this.#post({ kind: 'tell', topic: name, body }, body);
  }

  /** A message of the other end has come. */
  receive(message: Message): void {
    if (message.kind === 'ask') void this.#answerTo(message);
    else if (message.kind === 'tell') void this.#handlers.get(message.topic)?.(message.body);
    else if (message.kind === 'answer') this.#open.get(message.id)?.settle(message.body);
    else this.#open.get(message.id)?.fail(message.reason);
  }

  /** The other end is gone: nothing will be answered any more. */
  close(): void {
    for (const { fail } of [...this.#open.values()]) fail('it has ended');
  }

  async #answerTo({ id, topic, body }: Extract<Message, { kind: 'ask' }>): Promise<void> {
    let reason: string | undefined;
    try {
      const handler = this.#handlers.get(topic);
      if (handler === undefined) throw new Error(`nothing answers ${topic}`);
      const answered = handler(body);
      const text = answered instanceof Promise ? await answered : answered;
      reason = this.#post({ kind: 'answer', id, body: text }, text);
    } catch (error) {
      reason = error instanceof Error ? error.message : 'failed';
    }
    if (reason !== undefined) this.#send({ kind: 'failed', id, reason });
  }

  /** Undefined when the message is on its way, otherwise the reason why not. */
  #post(message: Message, { length }: string): string | undefined {
    const { maxLength } = this.#bounds;
    if (length > maxLength) return `a message of ${length} characters is longer than ${maxLength}`;
    return this.#send(message) ? undefined : 'it has ended';
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}
