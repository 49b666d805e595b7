/** The streams of a log query response. */
export interface LogStream {
  readonly stream: object;
  readonly values: readonly (readonly [ns: string, line: string, labels?: unknown])[];
}

/**
 * The entries in a defined order, without those at the timestamps where the limit may have cut. VictoriaLogs returns lines with the same
 * timestamp in an order that changes from query to query, so a limit that falls among them selects different lines.
 */
export function anyOrder(streams: readonly LogStream[], limit: number): readonly string[] {
  const entries = streams.flatMap(({ stream, values }) =>
    values.map(([ns, ...rest]) => ({ ns, text: JSON.stringify([stream, ...rest]) })),
  );
  const last = streams.map(({ values }) => values.at(-1)?.[0] ?? '').toSorted();
  const edges = new Set(entries.length < limit ? [] : [last[0], last.at(-1)]);
  return entries
    .filter(({ ns }) => !edges.has(ns))
    .map(({ ns, text }) => `${ns} ${text}`)
    .sort();
}

/** True if the backend of the run keeps the order of such lines, as the embedded one does. */
export const keepsOrder = process.env['BACKEND_URL'] === undefined;
