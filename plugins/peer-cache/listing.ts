import type { TimeRange } from '../../core/base/time/range.js';
import { inParallel } from '../../core/base/pace/in-parallel.js';
import { Pacer } from '../../core/base/pace/pacer.js';
import { eachAtPace } from '../../core/base/pace/steps.js';
import type { Exchange, Rest } from '../../core/plugin/index.js';
import type { ListingQuestion } from '../../core/victoria/upstream/types.js';
import { bucketsOf, type Divided, type Filled } from './buckets.js';
import type { Reading } from './every-stream.js';

/** What is listed of some time, and how long it may be used. */
export interface Listed {
  readonly values: readonly string[];
  readonly leftMs: number;
}

/** Where listings are kept. */
export interface KeptListings {
  /** For how long a bucket that is listed now is taken for complete. */
  patienceMs(bucket: TimeRange): number;
  /** For how long the newest minutes are those that were listed. */
  readonly freshMs: number;
  /** What the backend lists, unless it is kept or on its way. */
  findOrAsk(
    question: ListingQuestion,
    range: TimeRange,
    leftMs: number,
    exchange: Exchange<'tenant'>,
    rest: Rest,
  ): Promise<Listed>;
  /** Buckets of a question that were joined for this time, or what joins them, which is kept in place of those it had before. */
  findOrJoin(
    question: ListingQuestion,
    range: TimeRange,
    exchange: Exchange<'tenant'>,
    join: () => Promise<Listed>,
  ): Promise<Listed>;
}

/** The parts of a listing. */
export interface Listing {
  readonly exchange: Exchange<'tenant'>;
  /** A bucket: kept, or listed anew. */
  bucket(range: TimeRange, signal: AbortSignal): Promise<Listed>;
  /** Time that may still change, or that is no bucket. */
  edge(range: TimeRange, signal: AbortSignal): Promise<readonly string[]>;
  /** Many buckets. */
  joined(filled: Filled, parallel: number, signal: AbortSignal): Promise<Listed>;
}

/** A listing that the backend is asked for. */
export class Asked implements Listing {
  readonly exchange: Exchange<'tenant'>;
  readonly #kept: KeptListings;
  readonly #question: ListingQuestion;
  readonly #rest: Rest;

  constructor(kept: KeptListings, question: ListingQuestion, exchange: Exchange<'tenant'>, rest: Rest) {
    this.#kept = kept;
    this.#question = question;
    this.exchange = exchange;
    this.#rest = rest;
  }

  bucket(range: TimeRange, signal: AbortSignal): Promise<Listed> {
    return this.#ask(range, this.#kept.patienceMs(range), signal);
  }

  async edge(range: TimeRange, signal: AbortSignal): Promise<readonly string[]> {
    return (await this.#ask(range, this.#kept.freshMs, signal)).values;
  }

  joined(filled: Filled, parallel: number, signal: AbortSignal): Promise<Listed> {
    return this.#kept.findOrJoin(this.#question, filled, this.exchange, async () => {
      const buckets = await inParallel(
        bucketsOf(filled),
        parallel,
        (bucket, ended) => this.bucket(bucket, ended),
        signal,
      );
      const values = await union(
        buckets.map((bucket) => bucket.values),
        signal,
      );
      return { values, leftMs: Math.min(...buckets.map(({ leftMs }) => leftMs)) };
    });
  }

  #ask(range: TimeRange, leftMs: number, signal: AbortSignal): Promise<Listed> {
    const exchange = this.exchange.derive({ signal });
    return this.#kept.findOrAsk(this.#question, range, leftMs, exchange, this.#rest);
  }
}

/** A listing that is read from streams. */
export class Derived implements Listing {
  readonly exchange: Exchange<'tenant'>;
  readonly #kept: KeptListings;
  readonly #question: ListingQuestion;
  readonly #reading: Reading;
  readonly #streams: Listing;

  constructor(
    kept: KeptListings,
    question: ListingQuestion,
    reading: Reading,
    streams: Listing,
    exchange: Exchange<'tenant'>,
  ) {
    this.#kept = kept;
    this.#question = question;
    this.#reading = reading;
    this.#streams = streams;
    this.exchange = exchange;
  }

  async bucket(range: TimeRange, signal: AbortSignal): Promise<Listed> {
    return this.#read(await this.#streams.bucket(range, signal), signal);
  }

  async edge(range: TimeRange, signal: AbortSignal): Promise<readonly string[]> {
    return readFrom(await this.#streams.edge(range, signal), this.#reading, signal);
  }

  async joined(filled: Filled, parallel: number, signal: AbortSignal): Promise<Listed> {
    return this.#kept.findOrJoin(this.#question, filled, this.exchange, async () =>
      this.#read(await this.#streams.joined(filled, parallel, signal), signal),
    );
  }

  async #read({ values, leftMs }: Listed, signal: AbortSignal): Promise<Listed> {
    return { values: await readFrom(values, this.#reading, signal), leftMs };
  }
}

/** A part at an end of a range. */
interface Edge {
  readonly part: TimeRange;
  /** The bucket that it is part of; undefined for what has to be asked. */
  readonly bucket: TimeRange | undefined;
}

interface Part {
  readonly values: readonly string[];
  /** The edge around which this is the bucket; undefined for what lies in the range. */
  readonly around: TimeRange | undefined;
}

/** The whole of a listing over a range, from its parts, in an order that does not depend on which of them comes first. */
export async function listOver(
  listing: Listing,
  { startNs, endNs }: TimeRange,
  { filled, youngEndNs, atStart, atEnd }: Divided,
  parallel: number,
): Promise<readonly string[]> {
  const { signal, slots } = listing.exchange;
  const edges: readonly Edge[] = [
    {
      part: { startNs, endNs: filled.startNs },
      bucket: slots.tenant.oldestNs === undefined ? atStart : undefined,
    },
    { part: { startNs: youngEndNs, endNs }, bucket: atEnd },
  ].filter(({ part }) => part.startNs < part.endNs);
  const { values: inBuckets } = await listing.joined(filled, parallel, signal);
  const young = { startNs: filled.endNs, endNs: youngEndNs };
  const parts = edges.map(({ part, bucket }) => async (ended: AbortSignal): Promise<Part> => {
    if (bucket === undefined) return { values: await listing.edge(part, ended), around: undefined };
    return { values: (await listing.bucket(bucket, ended)).values, around: part };
  });
  if (young.startNs < young.endNs)
    parts.push(async (ended) => ({ values: (await listing.bucket(young, ended)).values, around: undefined }));
  const listed = await inParallel(parts, parallel, (part, ended) => part(ended), signal);
  const inRange = listed.flatMap(({ values, around }) => (around === undefined ? [values] : []));
  let whole = await union([inBuckets, ...inRange], signal);
  for (const { values, around } of listed)
    if (around !== undefined && !(await holds(whole, values, signal)))
      whole = await union([whole, await listing.edge(around, signal)], signal);
  return whole;
}

async function readFrom(
  streams: readonly string[],
  reading: Reading,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const values = new Set<string>();
  await eachAtPace(streams, new Pacer(signal), (stream) => {
    for (const value of reading(stream)) values.add(value);
  });
  return [...values];
}

async function union(lists: readonly (readonly string[])[], signal: AbortSignal): Promise<readonly string[]> {
  const values = new Set<string>();
  const pacer = new Pacer(signal);
  for (const list of lists) await eachAtPace(list, pacer, (value) => void values.add(value));
  return [...values];
}

/** Whether one list has everything that another has. */
async function holds(
  large: readonly string[],
  small: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const missing = new Set(small);
  await eachAtPace(large, new Pacer(signal), (value) => void missing.delete(value));
  return missing.size === 0;
}
