/** Recorded data that a store is loaded with, in files of this repository. */
export interface Corpus {
  /** Backend tenants: AccountID by X-Scope-OrgID, ProjectID 0. */
  readonly accounts: ReadonlyMap<string, number>;
  /** Files of entries, one push a line: `{tenant, streams}`. */
  readonly entries: readonly string[];
  /** Files of stored rows, one batch a line: `{tenant, stream_fields, rows}`. */
  readonly rows: readonly string[];
  /** The rows that are looked for after loading, by tenant. */
  readonly wanted: ReadonlyMap<string, number>;
  /** All rows are in this range, in Unix seconds. */
  readonly range: { readonly start: number; readonly end: number };
}

export const conformanceCorpus: Corpus = {
  accounts: new Map([
    ['t1', 11],
    ['t2', 12],
    ['t3', 13],
  ]),
  entries: ['test/data/conformance/dataset.jsonl.gz'],
  rows: ['test/data/conformance/otel-rows.jsonl.gz'],
  wanted: new Map([
    ['t1', 30_470],
    ['t3', 4_110],
  ]),
  range: { start: 1_793_491_200, end: 1_793_520_000 },
};

/** The tenant map of a proxy over the corpus. */
export function tenantMapOf({ accounts }: Corpus): string {
  const map = [...accounts].map(([id, account]) => [id, { account_id: String(account), project_id: '0' }]);
  return JSON.stringify(Object.fromEntries(map));
}
