/** Texts by name. */
export type Labels = Readonly<Record<string, string>>;

/** A log line as it is sent to the backend. */
export interface Row {
  readonly ns: bigint;
  /** Undefined if no message is sent. */
  readonly message: string | undefined;
  /** Its fields, without those of its stream. */
  readonly fields: Labels;
}

/**
 * The ingestion path of rows: Loki's push protocol with unchanged lines, or with parsed JSON lines; JSON lines with a message and fields,
 * or with fields only; and the rows that VictoriaLogs stores for OpenTelemetry records, written as JSON lines.
 */
export type Door = 'push' | 'parsed' | 'wide' | 'rebuilt' | 'otlp';

/** Rows of one backend stream that are ingested through the same door. */
export interface Source {
  readonly door: Door;
  readonly streamFields: Labels;
  /** The name of the shape of its messages. */
  readonly shape: string;
  /** Sorted by time. */
  readonly rows: readonly Row[];
  /** Rows that are sent after those of all sources. */
  readonly laterRows: readonly Row[];
}

/** The text that VictoriaLogs stores for a missing message. */
export const missingMessage =
  'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';

/** Texts by name, sorted by name. */
export function sortedByName(pairs: Iterable<readonly [string, string]>): Labels {
  return Object.fromEntries([...pairs].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Removes fields that are also stream fields: a JSON row has each name once, but a push can have a name twice. */
export function fitted(door: Door, streamFields: Labels, row: Row): Row {
  if (door === 'push' || door === 'parsed') return row;
  const fields = Object.entries(row.fields).filter(([name]) => !Object.hasOwn(streamFields, name));
  return { ...row, fields: Object.fromEntries(fields) };
}
