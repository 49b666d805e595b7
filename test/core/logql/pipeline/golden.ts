/** Loki's recorded result for one line and one query. */
export interface Golden {
  readonly id: string;
  readonly family: string;
  readonly query: string;
  readonly stream: Readonly<Record<string, string>>;
  readonly structured_metadata: Readonly<Record<string, string>>;
  /** Time in nanoseconds. */
  readonly ts: string;
  readonly line: string;
  readonly kept: boolean;
  readonly out_line: string;
  readonly out_labels: Readonly<Record<string, string>>;
  readonly out_groups: Readonly<
    Record<'stream' | 'structured_metadata' | 'parsed', Readonly<Record<string, string>>>
  >;
  readonly metric_sample?: string;
}

export const goldenPath = 'test/data/logql/pipeline.jsonl';
