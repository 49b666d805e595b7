import { isDeepStrictEqual } from 'node:util';
import { printFilter } from '../victoria/logsql/print.js';
import type {
  BackendSample,
  BackendSeries,
  BackendValue,
  Deletion,
  DeletionRequest,
  DeletionTaken,
  ListingRequest,
  RowsRequest,
  StatsRangeRequest,
  StatsRequest,
  TailRowsRequest,
  Upstream,
} from '../victoria/upstream/types.js';

export type WrittenRow = Readonly<Record<string, string>>;

/** A call that a test expects, with the backend's answer. `when` checks the request; by default any request matches. */
export type ExpectedCall =
  | {
      readonly call: 'rows';
      readonly when?: (request: RowsRequest) => boolean;
      readonly batches: readonly (readonly WrittenRow[])[];
    }
  | {
      readonly call: 'list';
      readonly when?: (request: ListingRequest) => boolean;
      readonly values: readonly BackendValue[];
    }
  | {
      readonly call: 'stats';
      readonly when?: (request: StatsRequest) => boolean;
      readonly samples: readonly BackendSample[];
    }
  | {
      readonly call: 'statsRange';
      readonly when?: (request: StatsRangeRequest) => boolean;
      readonly series: readonly BackendSeries[];
    }
  | {
      readonly call: 'tail';
      readonly when?: (request: TailRowsRequest) => boolean;
      /** The tail ends after the last batch. */
      readonly batches: AsyncIterable<readonly WrittenRow[]> | readonly (readonly WrittenRow[])[];
    }
  | {
      readonly call: 'deletion';
      readonly when?: (request: DeletionRequest) => boolean;
      readonly taskId?: string;
    }
  | { readonly call: CallName; readonly error: Error };

type CallName = 'rows' | 'list' | 'stats' | 'statsRange' | 'tail' | 'deletion';
type AnyRequest =
  RowsRequest | ListingRequest | StatsRequest | StatsRangeRequest | TailRowsRequest | DeletionRequest;

/** A backend that answers from a script and fails on any other call. */
export class FakeUpstream implements Upstream {
  readonly owner: string;
  readonly #open: ExpectedCall[];
  /** Every request, in order. */
  readonly requests: AnyRequest[] = [];

  /** @param owner owner of the rows */
  constructor(expected: readonly ExpectedCall[], owner = '') {
    this.owner = owner;
    this.#open = [...expected];
  }

  async *rows(request: RowsRequest): AsyncIterable<readonly WrittenRow[]> {
    const found = this.#take('rows', request);
    // A promise is awaited so that rows arrive in later turns of the event loop, as from a socket.
    await Promise.resolve();
    if (found.call !== 'rows' || !('batches' in found)) throw mismatch('rows', request);
    yield* found.batches;
  }

  async list(request: ListingRequest): Promise<readonly BackendValue[]> {
    const found = await Promise.resolve(this.#take('list', request));
    if (!('values' in found)) throw mismatch('list', request);
    return found.values;
  }

  async stats(request: StatsRequest): Promise<readonly BackendSample[]> {
    const found = await Promise.resolve(this.#take('stats', request));
    if (!('samples' in found)) throw mismatch('stats', request);
    return found.samples;
  }

  async statsRange(request: StatsRangeRequest): Promise<readonly BackendSeries[]> {
    const found = await Promise.resolve(this.#take('statsRange', request));
    if (!('series' in found)) throw mismatch('statsRange', request);
    return found.series;
  }

  async tail(request: TailRowsRequest): Promise<AsyncIterable<readonly WrittenRow[]>> {
    const found = await Promise.resolve(this.#take('tail', request));
    if (found.call !== 'tail' || !('batches' in found)) throw mismatch('tail', request);
    return inTurns(found.batches);
  }

  /** Expects a deletion, when it is run. Its LogsQL is the filter, without time and tenant. */
  deletion(request: DeletionRequest): Deletion {
    const run = async (): Promise<DeletionTaken> => {
      const found = await Promise.resolve(this.#take('deletion', request));
      if (found.call !== 'deletion' || 'error' in found) throw mismatch('deletion', request);
      return { taskId: found.taskId };
    };
    return { logsql: printFilter(request.filter), run };
  }

  /** Throws if an expected call was not made. */
  done(): void {
    if (this.#open.length === 0) return;
    const calls = this.#open.map((expected) => expected.call).join(', ');
    throw new Error(`${this.#open.length} expected backend calls have not come: ${calls}`);
  }

  #take(call: CallName, request: AnyRequest): ExpectedCall {
    this.requests.push(request);
    const index = this.#open.findIndex((expected) => expected.call === call && accepts(expected, request));
    const [found] = index === -1 ? [] : this.#open.splice(index, 1);
    if (found === undefined) throw mismatch(call, request);
    if ('error' in found) throw found.error;
    return found;
  }
}

async function* inTurns<Item>(items: AsyncIterable<Item> | Iterable<Item>): AsyncGenerator<Item> {
  for await (const item of items) yield item;
}

function accepts(expected: ExpectedCall, request: unknown): boolean {
  // `when` belongs to a call of the same kind as the request: the kinds were compared before.
  const when =
    'when' in expected ? (expected.when as ((request: unknown) => boolean) | undefined) : undefined;
  return when === undefined || when(request);
}

function mismatch(call: string, request: unknown): Error {
  const shown = JSON.stringify(request, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return new Error(`unexpected backend call ${call}: ${shown}`);
}

/** A condition for `when`: the request has exactly these values. */
export function matching<Request extends object>(wanted: Partial<Request>): (request: Request) => boolean {
  return (request) => {
    const members = new Map<string, unknown>(Object.entries(request));
    return Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(members.get(name), value));
  };
}
