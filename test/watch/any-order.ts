/** Streams of an answer to a log query. */
export interface LogStream {
  readonly stream: object;
  readonly values: readonly (readonly [ns: string, line: string, labels?: unknown])[];
}

/**
 * VictoriaLogs gives lines of one instant in an order that differs from one query to the next, so a limit that falls there leaves others: the
 * entries in an order of their own, without those of the instant where the limit may have cut.
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

/** Whether the backend of the run keeps the order of such lines, as the embedded one does. */
export const keepsOrder = process.env['BACKEND_URL'] === undefined;
