import { isListed } from '../../../core/victoria/logsql/build.js';
import type { EmbeddedPipe, EmbeddedQuery } from '../logsql/index.js';
import { printEmbeddedPipe, printEmbeddedQuery } from '../logsql/index.js';
import { badRequest } from '../http/errors.js';

/** The columns of a stats result that are labels, and those that are values. */
export interface StatsColumns {
  readonly labels: readonly string[];
  readonly values: readonly string[];
}

/** Follows the columns of the last `stats` pipe through later pipes; HTTP 400 for a pipe that is not allowed there. */
export function statsColumns(query: EmbeddedQuery): StatsColumns {
  const at = query.pipes.findLastIndex((pipe) => pipe.kind === 'stats');
  const stats = query.pipes[at];
  if (stats?.kind !== 'stats') return { labels: [], values: [] };
  const labels = new Set(stats.by.map((key) => key.field).filter((name) => name !== '_time'));
  const values = new Set(stats.functions.map((fn) => fn.as));
  for (const pipe of query.pipes.slice(at + 1)) follow(query, pipe, labels, values);
  return { labels: [...labels], values: [...values] };
}

function follow(query: EmbeddedQuery, pipe: EmbeddedPipe, labels: Set<string>, values: Set<string>): void {
  switch (pipe.kind) {
    case 'filter':
    case 'sort':
    case 'first':
    case 'last':
    case 'limit':
    case 'offset':
    case 'drop_empty_fields':
      return;
    case 'math':
      for (const { as } of pipe.entries) {
        labels.delete(as);
        values.add(as);
      }
      return;
    case 'format':
      values.delete(pipe.as);
      labels.add(pipe.as);
      return;
    case 'fields':
    case 'delete': {
      for (const set of [labels, values]) {
        for (const name of [...set])
          if (isListed(pipe.fields, name) === (pipe.kind === 'delete')) set.delete(name);
      }
      return;
    }
    case 'copy':
    case 'rename':
      for (const { from, to } of pipe.pairs) {
        if (from.kind !== 'name' || to.kind !== 'name') continue;
        for (const set of [labels, values]) {
          if (!set.has(from.name)) continue;
          set.add(to.name);
          if (pipe.kind === 'rename') set.delete(from.name);
        }
      }
      return;
    default:
      throw badRequest(
        `the pipe "| ${printEmbeddedPipe(pipe)}" cannot be put after \`| stats ...\` pipe in the query [${printEmbeddedQuery(query)}]`,
      );
  }
}
