import { parsedJson } from '../../base/json-member.js';
import { parseDuration } from '../../base/time/option-duration.js';
import { asObject, asText } from '../../comparison/json.js';
import { evaluateEntry, parseQuery } from '../../logql/index.js';
import type { FoundQueries, FoundQuery } from './found-query.js';

/** Reads the members of a logfmt line, as a query would. */
const logfmt = parseQuery('{source="log"} | logfmt');

/**
 * The queries of a text file, one per line: LogQL, a path with parameters (`/loki/api/v1/labels?since=1h`), a record of Loki's query log
 * (logfmt, with `query` and `length`), or a JSON record of this proxy (with `ref.query`, which -debug-log-raw-queries writes in full) or of
 * Loki. Empty lines and lines that start with # are comments. Equal log queries are taken once.
 */
export function queriesOfLines(text: string, file: string): FoundQueries {
  const queries: FoundQuery[] = [];
  const logged = new Set<string>();
  let skipped = 0;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const named = { group: file, name: `line ${index + 1}` };
    const at = { line: index + 1, column: raw.indexOf(line) + 1 };
    if (line.startsWith('/')) queries.push({ ...named, at, kind: 'instant', path: line });
    else {
      const record = recordOf(line);
      const found =
        record === undefined ? { ...named, text: line, kind: 'range' as const } : loggedQuery(record, named);
      const key = JSON.stringify({ ...found, name: '' });
      if (found === undefined || (record !== undefined && logged.has(key))) skipped += 1;
      else queries.push({ ...found, at });
      logged.add(key);
    }
  }
  return { queries, variables: [], skipped };
}

/** The members of a log record; undefined if the line is a query. */
function recordOf(line: string): ReadonlyMap<string, string> | undefined {
  if (line.startsWith('{')) {
    const parsed = parsedJson(line);
    return parsed === undefined
      ? undefined
      : new Map(Object.entries(asObject(parsed)).map(([name, value]) => [name, asText(value)]));
  }
  if (!/^[\w.]+=/.test(line)) return undefined;
  const { labels } = evaluateEntry(logfmt, { stream: { source: 'log' }, line });
  return new Map(labels.labels);
}

/** The query of a record; undefined if it has none, or only a digest of it. */
function loggedQuery(
  record: ReadonlyMap<string, string>,
  named: Pick<FoundQuery, 'group' | 'name'>,
): FoundQuery | undefined {
  const text = record.get('ref.query') ?? record.get('query');
  if (text === undefined || text === '' || text.startsWith('sha256:')) return undefined;
  const isInstant =
    record.get('range_type') === 'instant' || record.get('http.route')?.endsWith('/query') === true;
  const [rangeMs, stepMs] = ['length', 'step'].map((name) => parseDuration(record.get(name) ?? '', 'long'));
  const limit = Number(record.get('limit') ?? 0);
  const orgId = record.get('org_id') ?? record.get('ref.tenant.id');
  return {
    ...named,
    text,
    kind: isInstant ? 'instant' : 'range',
    ...(rangeMs === undefined || rangeMs === 0 ? {} : { rangeMs }),
    ...(stepMs === undefined || stepMs === 0 ? {} : { stepMs }),
    ...(limit > 0 ? { limit } : {}),
    ...(orgId === undefined || orgId === '' ? {} : { orgId }),
  };
}
