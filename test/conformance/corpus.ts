import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { packedOrNot, readLines, recordings } from './cases.js';

/** One line of an entries file. */
export interface EntryBatch {
  readonly tenant: string;
  readonly streams: readonly {
    readonly stream: Readonly<Record<string, string>>;
    readonly values: readonly (readonly [ns: string, ...rest: unknown[]])[];
  }[];
}

/** Files of recorded data to load into a store. */
export interface Corpus {
  /** Backend tenants: AccountID by X-Scope-OrgID, ProjectID 0. */
  readonly accounts: ReadonlyMap<string, number>;
  /** Entries files with one push per line: `{tenant, streams}`. */
  readonly entries: readonly string[];
  /** Files of stored rows with one batch per line: `{tenant, stream_fields, rows}`. */
  readonly rows: readonly string[];
  /** The number of rows expected after loading, by tenant. */
  readonly wanted: ReadonlyMap<string, number>;
  /** The range of all rows, in Unix seconds. */
  readonly range: { readonly start: number; readonly end: number };
}

export const conformanceCorpus: Corpus = {
  accounts: new Map([
    ['t1', 11],
    ['t2', 12],
    ['t3', 13],
  ]),
  entries: [`${recordings}/dataset.jsonl.gz`],
  rows: [`${recordings}/otel-rows.jsonl.gz`],
  wanted: new Map([
    ['t1', 30_470],
    ['t3', 4_110],
  ]),
  range: { start: 1_793_491_200, end: 1_793_520_000 },
};

/** The corpus of a set: the entries in `<set>-data.jsonl`, gzipped or not, if the folder contains it, else the conformance corpus. */
export function corpusOf(set: string, folder = recordings): Corpus {
  const file = packedOrNot(`${folder}/${set}-data.jsonl`);
  return existsSync(file) ? corpusOfEntries(file) : conformanceCorpus;
}

function corpusOfEntries(file: string): Corpus {
  const lines = readLines(file);
  const wanted = new Map<string, number>();
  let [start, end] = [Infinity, -Infinity];
  for (const line of lines) {
    // Data of this repository, or recordings selected by the caller.
    const { tenant, streams } = JSON.parse(line) as EntryBatch;
    for (const { values } of streams) {
      wanted.set(tenant, (wanted.get(tenant) ?? 0) + values.length);
      for (const [ns] of values) {
        const seconds = Number(BigInt(ns) / 1_000_000_000n);
        start = Math.min(start, seconds);
        end = Math.max(end, seconds + 1);
      }
    }
  }
  // Account numbers are derived from the data, so a persistent store can hold several corpora, and versions of one, side by side.
  const firstAccount = 1000 + Number.parseInt(hash('sha1', lines.join('\n')).slice(0, 7), 16);
  const accounts = new Map([...wanted.keys()].map((tenant, index) => [tenant, firstAccount + index]));
  return { accounts, entries: [file], rows: [], wanted, range: { start, end } };
}

/** The start of a corpus in Unix nanoseconds. */
export function startNsOf({ range }: Corpus): bigint {
  return BigInt(range.start) * 1_000_000_000n;
}

/** The tenant map of a proxy over the corpus. */
export function tenantMapOf({ accounts }: Corpus): string {
  const map = [...accounts].map(([id, account]) => [id, { account_id: String(account), project_id: '0' }]);
  return JSON.stringify(Object.fromEntries(map));
}
