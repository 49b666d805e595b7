import type { ExecutionContext } from 'ava';
import fc from 'fast-check';
import { ApiError } from '../../../../../core/base/errors/api-error.js';
import { MetricStore, rangeRequest, valuesOf, type StoredEntry } from '../metric-store.js';
import { base, second, streams } from './json-lines.js';

const lengthSeconds = 300;

/** A store with five minutes of lines; each push has an account of its own. */
export class LineStore {
  readonly #store: MetricStore;
  #account: number;

  private constructor(store: MetricStore, account: number) {
    this.#store = store;
    this.#account = account;
  }

  /** @param account the account before the first one that is used */
  static async open(account: number): Promise<LineStore> {
    return new LineStore(await MetricStore.open(), account);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async push(entries: readonly StoredEntry[]): Promise<void> {
    this.#account += 1;
    await this.add(entries);
  }

  /** Adds lines to those of the last push. */
  add(entries: readonly StoredEntry[]): Promise<void> {
    return this.#store.push(this.#account, entries);
  }

  /** Answers a query over the lines of the last push, with a step of one minute. */
  run(
    text: string,
    how: Pick<Parameters<MetricStore['run']>[1], 'asked' | 'pushdown' | 'trace' | 'limits'> = {},
  ): ReturnType<MetricStore['run']> {
    const end = base + BigInt(lengthSeconds) * second;
    return this.#store.run(rangeRequest(text, base, end, 60n * second), { ...how, account: this.#account });
  }

  /**
   * The values of the answer, or the error message without its series: rows arrive in any order, and the first one with an error is named.
   */
  async outcome(text: string, pushdown: 'on' | 'off'): Promise<unknown> {
    try {
      return valuesOf((await this.run(text, { pushdown })).answer);
    } catch (error) {
      if (error instanceof ApiError) return error.message.replace(/ for series: '.*'/, '');
      throw error;
    }
  }

  /** The strategies that were tried, each with its outcome. */
  async tried(text: string): Promise<readonly string[]> {
    return (await this.run(text)).tried;
  }

  /** Checks that pushdown does not change any answer over the lines of the last push. */
  async compare(t: ExecutionContext, queries: readonly string[], about = ''): Promise<void> {
    for (const text of queries) {
      const wanted = await this.outcome(text, 'off');
      // Checked twice: the second time all lines are proven to be what they look like.
      for (const time of ['first', 'second'])
        t.deepEqual(await this.outcome(text, 'on'), wanted, `${about} ${text}, ${time} time`);
    }
  }

  /** Checks that the backend counts for a query, and that the counts are right. */
  async compareCounted(t: ExecutionContext, text: string): Promise<void> {
    const { answer, tried } = await this.run(text);
    t.deepEqual(valuesOf(answer), await this.outcome(text, 'off'), text);
    t.is(tried.at(-1), 'statistics:ran', text);
  }

  /** Checks how queries that have an answer are read once their lines are proven, and how much the backend sends for them. */
  async compareReading(
    t: ExecutionContext,
    cases: readonly (readonly [text: string, outcome: string, maxRows: number])[],
    maxBytes: number,
  ): Promise<void> {
    for (const [text, outcome, maxRows] of cases) {
      const wanted = await this.outcome(text, 'off');
      t.true(JSON.stringify(wanted).includes('@'), text);
      for (const time of ['first', 'second'])
        t.deepEqual(await this.outcome(text, 'on'), wanted, `${text} ${time}`);
      const { answer, calls, tried } = await this.run(text);
      t.deepEqual(valuesOf(answer), wanted, text);
      t.is(tried.at(-1), outcome, text);
      t.true(calls.reduce((sum, { rows }) => sum + rows, 0) <= maxRows, text);
      t.true(calls.reduce((sum, { bytes }) => sum + bytes, 0) < maxBytes, text);
    }
  }
}

/** A few different lines, each of them many times, in several streams. */
export function repeatedLines(
  line: fc.Arbitrary<string>,
  metadataAt: (second: number) => Readonly<Record<string, string>> | undefined,
): fc.Arbitrary<readonly StoredEntry[]> {
  return fc
    .uniqueArray(line, { minLength: 1, maxLength: 4 })
    .chain((lines) =>
      fc.array(
        fc.record({
          at: fc.integer({ min: 0, max: lengthSeconds }),
          stream: fc.constantFrom(...streams),
          line: fc.constantFrom(...lines),
        }),
        { minLength: 40, maxLength: 80 },
      ),
    )
    .map((made) =>
      made.map(({ at, ...entry }) => ({
        ...entry,
        ns: base + BigInt(at) * second,
        metadata: metadataAt(at) ?? {},
      })),
    );
}

/**
 * Patterns, each with entries of a few lines made of words.
 * @param starts maps each pattern to a text that it matches; some of its lines start with that text
 */
export function patternsWithEntries(
  patterns: readonly string[],
  words: readonly string[],
  starts: Readonly<Record<string, string>>,
): fc.Arbitrary<{ readonly pattern: string; readonly stored: readonly StoredEntry[] }> {
  const line = fc
    .array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(' ', ' ', ' ', '  ', '', '\t')), {
      minLength: 1,
      maxLength: 8,
    })
    .map((parts) => parts.map((part) => part.join('')).join(''));
  const entriesOf = (pattern: string): fc.Arbitrary<readonly StoredEntry[]> =>
    repeatedLines(
      fc.tuple(fc.constantFrom('', '', starts[pattern] ?? ''), line).map((parts) => parts.join('')),
      (at) => (at % 24 === 0 ? { status: 'meta' } : undefined),
    );
  return fc
    .constantFrom(...patterns)
    .chain((pattern) => entriesOf(pattern).map((stored) => ({ pattern, stored })));
}

/** Twelve rows of each line, with one stream for each line. */
export function linesInStreams(lines: readonly string[]): readonly StoredEntry[] {
  return lines.flatMap((line, index) =>
    Array.from({ length: 12 }, (_, n) => ({
      ns: base + BigInt(n * 20) * second,
      stream: { app: 'a', nr: String(index) },
      line,
    })),
  );
}
