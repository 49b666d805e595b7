import { request as send } from 'undici';
import { unboundedMemory } from '../../../../core/base/memory/account.js';
import { Trace } from '../../../../core/base/trace.js';
import { startDevBackend, type DevBackend } from '../../../../plugins/embedded-backend/dev-backend.js';
import { apiError } from '../../../../core/base/errors/table.js';
import type { LogsqlQuery } from '../../../../core/victoria/logsql/ast.js';
import { everything } from '../../../../core/victoria/logsql/build.js';
import { formatTime } from '../../../../core/victoria/logsql/literals.js';
import { simpleStore } from '../../../../core/victoria/stores/simple-store.js';
import type { Split } from '../../../../core/victoria/stores/split.js';
import { twoStores } from '../../../../core/victoria/stores/two-stores.js';
import { BoundUpstream } from '../../../../core/victoria/upstream/bound.js';
import { CircuitBreaker } from '../../../../core/base/admission/circuit-breaker.js';
import { BackendClient } from '../../../../core/victoria/upstream/client.js';
import type { Upstream } from '../../../../core/victoria/upstream/types.js';

/** A row with its number of copies in each store; the store with all rows has the larger number of copies. */
export interface PlacedRow {
  readonly ns: bigint;
  readonly fields: Readonly<Record<string, string>>;
  readonly hot: number;
  readonly cold: number;
}

export interface Pair {
  readonly whole: Upstream;
  readonly two: Upstream;
}

/** Three backends: one with all rows, and two that share the rows. */
export class PairedStores {
  readonly #backends: readonly DevBackend[];
  readonly #clients: readonly BackendClient[];
  #accounts = 0;

  private constructor(backends: readonly DevBackend[]) {
    this.#backends = backends;
    this.#clients = backends.map(({ url }) => clientOf(url));
  }

  static async open(): Promise<PairedStores> {
    return new PairedStores(await Promise.all([startDevBackend(), startDevBackend(), startDevBackend()]));
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    for (const backend of this.#backends) await backend.close();
  }

  /** Stores rows under a new account. */
  async store(rows: readonly PlacedRow[], split: Split, isPoor: boolean): Promise<Pair> {
    this.#accounts += 1;
    const headers = { accountid: String(this.#accounts), projectid: '0' };
    await this.#push(0, headers, rows, ({ hot, cold }) => Math.max(hot, cold));
    await this.#push(1, headers, rows, ({ hot }) => hot);
    await this.#push(2, headers, rows, ({ cold }) => cold);
    const [whole, hot, cold] = this.#clients.map((client) => bound(client, headers));
    if (whole === undefined || hot === undefined || cold === undefined) throw new Error('three are open');
    const memory = unboundedMemory();
    const simple = simpleStore(isPoor ? poor(cold) : cold, memory);
    return { whole, two: twoStores({ hot, cold: simple, memory }, split) };
  }

  async #push(
    at: number,
    headers: Readonly<Record<string, string>>,
    rows: readonly PlacedRow[],
    timesOf: (row: PlacedRow) => number,
  ): Promise<void> {
    const lines = rows.flatMap((row) =>
      Array.from({ length: timesOf(row) }, () =>
        JSON.stringify({ _time: formatTime(row.ns), ...row.fields }),
      ),
    );
    if (lines.length === 0) return;
    const answer = await send(`${this.#backends[at]?.url ?? ''}/insert/jsonline?_stream_fields=app,pod`, {
      method: 'POST',
      headers,
      body: lines.join('\n'),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text}`);
  }
}

function bound(client: BackendClient, headers: Readonly<Record<string, string>>): Upstream {
  return new BoundUpstream(client, {
    signal: new AbortController().signal,
    trace: new Trace(),
    headers,
    parameters: [],
    dataOwner: '',
    scope: everything,
  });
}

function clientOf(url: string): BackendClient {
  const options = { url, timeout: 60_000, compression: 'none', tlsSkipVerify: false } as const;
  const never = { breakerFailThreshold: 100, breakerOpenDuration: 1, breakerWindowDuration: 1 };
  return new BackendClient(
    { ...options, maxConcurrent: 8, maxBufferedResponseBytes: 1e8, maxRowBytes: 1e7 },
    new CircuitBreaker(never, { monotonicMs: () => 0 }),
  );
}

/** A store that accepts only stream selectors, without pipes and without a limit. */
function poor(store: Upstream): Upstream {
  const refuse = ({ filter, pipes }: LogsqlQuery, isLimited = false): void => {
    const isTaken = pipes.length === 0 && !isLimited && (filter.kind === 'stream' || filter.kind === 'all');
    if (!isTaken) throw apiError('backendRefused', { cause: 'unknown syntax' }, { status: 400 });
  };
  return {
    owner: store.owner,
    async *rows(request) {
      refuse(request.query, request.newest !== undefined);
      yield* store.rows(request);
    },
    list: () => Promise.reject(apiError('backendRefused', { cause: 'no such path' }, { status: 502 })),
    stats: async (request) => {
      refuse(request.query);
      return store.stats(request);
    },
    statsRange: async (request) => {
      refuse(request.query);
      return store.statsRange(request);
    },
    tail: (request) => store.tail(request),
    deletion: (request) => store.deletion(request),
  };
}
