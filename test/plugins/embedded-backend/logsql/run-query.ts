import {
  MapRow,
  compileFilter,
  compileEmbeddedPipes,
  parseDate,
  parseLogsql,
} from '../../../../plugins/embedded-backend/logsql/index.js';
import type { EmbeddedContext } from '../../../../plugins/embedded-backend/logsql/index.js';

/** Fields of a row by name. */
export type Fields = Record<string, string>;

/** Creates rows, with their timestamps from `_time`. */
export function rowsOf(list: readonly Fields[]): MapRow[] {
  return list.map(
    (fields) => new MapRow(new Map(Object.entries(fields)), parseDate(fields['_time'] ?? '')?.ns ?? 0n),
  );
}

/** Runs a query over rows; returns the non-empty fields of the results in order. */
export function runQuery(text: string, list: readonly Fields[], context: EmbeddedContext = {}): Fields[] {
  const query = parseLogsql(text);
  const matches = compileFilter(query.filter);
  const results: Fields[] = [];
  const chain = compileEmbeddedPipes(
    query.pipes,
    (row) => {
      results.push(
        Object.fromEntries(
          [...row.fieldNames()]
            .map((name) => [name, row.get(name)] as const)
            .filter(([, value]) => value !== ''),
        ),
      );
      return true;
    },
    context,
  );
  for (const row of rowsOf(list)) if (matches(row) && !chain.push(row)) break;
  chain.finish();
  return results;
}
