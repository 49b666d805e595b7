/** Texts by name. */
export type Labels = Readonly<Record<string, string>>;

/** A log line as it is sent to the backend. */
export interface Row {
  readonly ns: bigint;
  /** Undefined where none is sent. */
  readonly message: string | undefined;
  /** Its fields, without those of its stream. */
  readonly fields: Labels;
}

/**
 * How rows come into the backend: Loki's push protocol with lines as they are, or with lines of JSON taken apart; JSON lines with a message and
 * fields, or with nothing but fields; and what VictoriaLogs stores of OpenTelemetry records, written as JSON lines.
 */
export type Door = 'push' | 'parsed' | 'wide' | 'rebuilt' | 'otlp';

/** Rows of one stream of the backend that come in through the same door. */
export interface Source {
  readonly door: Door;
  readonly streamFields: Labels;
  /** The name of the shape of its messages. */
  readonly shape: string;
  /** In the order of time. */
  readonly rows: readonly Row[];
  /** Rows that are sent after those of all sources. */
  readonly laterRows: readonly Row[];
}

/** What VictoriaLogs stores in place of a message that is missing. */
export const missingMessage =
  'missing _msg field; see https://docs.victoriametrics.com/victorialogs/keyconcepts/#message-field';

/** Texts by name, in the order of names. */
export function sortedByName(pairs: Iterable<readonly [string, string]>): Labels {
  return Object.fromEntries([...pairs].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Rows of JSON have each name once, be it one of the stream's; a push can have one twice. */
export function fitted(door: Door, streamFields: Labels, row: Row): Row {
  if (door === 'push' || door === 'parsed') return row;
  const fields = Object.entries(row.fields).filter(([name]) => !Object.hasOwn(streamFields, name));
  return { ...row, fields: Object.fromEntries(fields) };
}
