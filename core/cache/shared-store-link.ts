/**
 * The connection to a store that replicas share, Valkey or Redis, by the client of Keyv's adapter. One connection at a time: anything odd
 * ends it, because what comes after an answer that was not understood, or that came too late, may belong to another question. Nothing
 * waits for a connection, and nothing is sent again.
 */
import type KeyvRedis from '@keyv/redis';
import { within } from '../base/time/within.js';

/** Why the store did not do what it was asked for; the label of its metric. */
export type StoreFailureReason =
  'connection' | 'timeout' | 'auth' | 'full' | 'read_only' | 'loading' | 'protocol' | 'other';

/** A failure of the store; its message has no secrets. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';

  constructor(
    readonly reason: StoreFailureReason,
    message: string,
  ) {
    super(message);
  }
}

export interface LinkSettings {
  /** `redis[s]://[[user]:password@]host[:port][/database]` */
  readonly url: string;
  /** The connection has ended, and why. */
  readonly lost: (failure: StoreFailure) => void;
}

/** What a look-up needs, as it was at once: the value first, so that no purge after its writing goes unseen. */
export interface StoreReply {
  /** Its first bytes; undefined when there is none. */
  readonly value: Buffer | undefined;
  /** Those of the texts that there are. */
  readonly texts: readonly (string | undefined)[];
  /** How long the store will keep the value: below 0 when it has none, or no end. */
  readonly leftMs: number;
}

/** RESP's type of binary texts. */
const blobs = 36;
const connectMs = 2_000;
/** From sending to the answer. Whoever waits for an answer waits less. */
const commandMs = 2_000;
/** Commands that have no answer yet. */
const maxCommands = 4_000;

/** Its four hundred modules are a third of all that a start would load; most proxies have no shared store. */
const loadRedis = () => import('@keyv/redis');

type Redis = Awaited<ReturnType<typeof loadRedis>>;
type Client = ReturnType<typeof openClient>;

interface Open {
  readonly client: Client;
  readonly adapter: KeyvRedis<Buffer>;
}

export class StoreLink {
  readonly #settings: LinkSettings;
  readonly #secrets: readonly string[];
  #open: Open | undefined;

  constructor(settings: LinkSettings) {
    this.#settings = settings;
    const { password } = new URL(settings.url);
    this.#secrets = password === '' ? [] : [password, decoded(password)];
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Where the store is, for the log. */
  get address(): string {
    return new URL(this.#settings.url).host;
  }

  /** What need not count for the time of the first attempt. */
  static async load(): Promise<void> {
    await loadRedis();
  }

  /** Tries once. */
  async connect(): Promise<void> {
    const redis = await loadRedis();
    const client = openClient(redis, this.#settings.url);
    let failure: unknown;
    client.on('error', (error: unknown) => {
      failure ??= error;
      this.#lose(client, error);
    });
    client.on('end', () => this.#lose(client, failure));
    try {
      await within(connectMs, client.connect(), noAnswer(connectMs));
    } catch (error) {
      end(client);
      throw this.#failureOf(error, 'connection');
    }
    if (!client.isReady) throw this.#failureOf(failure, 'connection');
    const adapter = new redis.default<Buffer>(client as never, { throwOnErrors: true });
    adapter.on('error', ignore);
    this.#open = { client, adapter };
  }

  /** @param most the most bytes of the value to read */
  lookUp(name: string, textNames: readonly string[], most: number): Promise<StoreReply> {
    return this.#run(async ({ client }) => {
      const [value, texts, leftMs] = await Promise.all([
        client.getRange(name, 0, most - 1),
        client.mGet([...textNames]),
        client.pTTL(name),
      ]);
      if (!Buffer.isBuffer(value) || typeof leftMs !== 'number') throw odd();
      return {
        value: value.byteLength === 0 ? undefined : value,
        texts: textsOf(texts, textNames.length),
        leftMs,
      };
    });
  }

  texts(names: readonly string[]): Promise<readonly (string | undefined)[]> {
    return this.#run(async ({ client }) => textsOf(await client.mGet([...names]), names.length));
  }

  /** Writes a text unless there is one; returns what is there then. */
  textOr(name: string, text: string, leftMs: number): Promise<string | undefined> {
    return this.#run(async ({ client }) => {
      const [, there] = await Promise.all([
        client.set(name, text, { condition: 'NX', expiration: { type: 'PX', value: leftMs } }),
        client.mGet([name]),
      ]);
      return textsOf(there, 1)[0];
    });
  }

  /** Writes a text; returns the one before. */
  swapText(name: string, text: string, leftMs: number): Promise<string | undefined> {
    return this.#run(async ({ client }) => {
      const before: unknown = await client.set(name, text, {
        GET: true,
        expiration: { type: 'PX', value: leftMs },
      });
      return textsOf([before], 1)[0];
    });
  }

  /** Texts that are in use stay. */
  renew(names: readonly string[], leftMs: number): Promise<void> {
    return this.#run(async ({ client }) => {
      await Promise.all(names.map((name) => client.pExpire(name, leftMs)));
    });
  }

  write(name: string, value: Buffer, leftMs: number): Promise<void> {
    return this.#run(({ adapter }) => adapter.set(name, value as never, leftMs));
  }

  remove(name: string): Promise<void> {
    return this.#run(async ({ adapter }) => {
      await adapter.delete(name);
    });
  }

  close(): void {
    const client = this.#open?.client;
    this.#open = undefined;
    if (client !== undefined) end(client);
  }

  /** An error that the store itself has answered leaves the connection; all others end it. */
  async #run<Value>(work: (open: Open) => Promise<Value>): Promise<Value> {
    const open = this.#open;
    if (open === undefined) throw new StoreFailure('connection', 'there is no connection');
    try {
      return await within(commandMs, work(open), noAnswer(commandMs));
    } catch (error) {
      const failure = this.#failureOf(error, 'other');
      if (failure.reason === 'timeout' || failure.reason === 'protocol') this.#lose(open.client, failure);
      throw failure;
    }
  }

  #lose(client: Client, error: unknown): void {
    if (this.#open?.client !== client) return;
    this.#open = undefined;
    end(client);
    this.#settings.lost(this.#failureOf(error, 'connection'));
  }

  #failureOf(error: unknown, usual: StoreFailureReason): StoreFailure {
    if (error instanceof StoreFailure) return error;
    let message = error instanceof Error ? error.message : 'the connection has ended';
    // A server can repeat what it was sent.
    for (const secret of this.#secrets) message = message.replaceAll(secret, '...');
    message = message.slice(0, maxMessage);
    return new StoreFailure(reasonOf(error, usual), message);
  }
}

const maxMessage = 300;

/** The first word of errors that servers answer. */
const reasons: ReadonlyMap<string, StoreFailureReason> = new Map([
  ['OOM', 'full'],
  ['NOAUTH', 'auth'],
  ['WRONGPASS', 'auth'],
  ['NOPERM', 'auth'],
  ['READONLY', 'read_only'],
  ['MISCONF', 'read_only'],
  ['MASTERDOWN', 'read_only'],
  ['LOADING', 'loading'],
  ['BUSY', 'loading'],
]);

function reasonOf(error: unknown, usual: StoreFailureReason): StoreFailureReason {
  if (!(error instanceof Error)) return usual;
  const word = /^[A-Z]+/.exec(error.message)?.[0] ?? '';
  if (word === 'ERR' && /\bAUTH\b|password/i.test(error.message)) return 'auth';
  if (error.message.startsWith('Unknown RESP type')) return 'protocol';
  return reasons.get(word) ?? usual;
}

function openClient({ createClient }: Redis, url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    disableClientInfo: true,
    commandsQueueMaxLength: maxCommands,
    commandOptions: { typeMapping: { [blobs]: Buffer } },
    socket: { reconnectStrategy: false, connectTimeout: connectMs },
  });
}

function end(client: Client): void {
  if (client.isOpen) client.destroy();
}

function textsOf(texts: unknown, count: number): readonly (string | undefined)[] {
  if (!Array.isArray(texts) || texts.length !== count) throw odd();
  return texts.map((text: unknown) => {
    if (text === null) return undefined;
    if (!Buffer.isBuffer(text)) throw odd();
    return text.toString('latin1');
  });
}

function odd(): StoreFailure {
  return new StoreFailure('protocol', 'the store answered what it was not asked for');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function noAnswer(ms: number): () => StoreFailure {
  return () => new StoreFailure('timeout', `no answer within ${ms} ms`);
}

function ignore(): void {
  // Every failure reaches who asked.
}
