import {
  build,
  EmbeddedTest,
  LogsqlError,
  type LogsqlFilter,
  type EmbeddedQuery,
  parseFilter,
  parseLogsql,
  printFilter,
  printEmbeddedPipe,
} from '../logsql/index.js';
import { badRequest } from '../http/errors.js';
import { mapSubqueries, subqueriesOf } from './subqueries.js';

/** Parses the `query` argument; HTTP 400 with the real server's text for an invalid one. */
export function parseQueryArg(text: string): EmbeddedQuery {
  if (text === '') throw badRequest('`query` arg cannot be empty');
  return framed(`cannot parse \`query\` arg [${text}]: `, () => parseLogsql(text));
}

/** Parses the filter of a deletion, which may have no pipes. */
export function parseDeleteFilter(text: string): LogsqlFilter {
  if (text === '') throw badRequest('missing filter arg');
  const query = framed(`cannot parse filter [${text}]: `, () => parseLogsql(text));
  if (query.pipes.length > 0) {
    throw badRequest(
      `cannot parse filter [${text}]: unexpected pipes after the filter [${printFilter(query.filter)}]; ` +
        `pipes: [${query.pipes.map(printEmbeddedPipe).join(' | ')}]`,
    );
  }
  if (subqueriesOf(query).length > 0)
    throw badRequest(`cannot parse filter [${text}]: subqueries are not supported here`);
  return query.filter;
}

/** Parses one `extra_filters` value: a filter, or a JSON object of exact values or lists of them. */
export function parseExtraFilter(text: string): LogsqlFilter {
  const pairs = parsePairs(text);
  if (pairs === undefined) return framed('', () => parseFilter(text));
  return build.and(
    ...pairs.map(([name, values]) =>
      values.length === 1 ? build.exact(name, values[0] ?? '') : build.oneOf(name, values),
    ),
  );
}

/** Parses one `extra_stream_filters` value: a filter, or a JSON object as above, meant for stream fields. */
export function parseExtraStreamFilter(text: string): LogsqlFilter {
  const pairs = parsePairs(text);
  if (pairs === undefined) return framed('', () => parseFilter(text));
  return build.streamMatch(
    ...pairs.map(([label, values]) => ({ kind: 'list', label, op: 'in', values }) as const),
  );
}

/** Adds the request's time range and filters to a query and to all its subqueries. */
export function restrictQuery(
  query: EmbeddedQuery,
  time: LogsqlFilter | undefined,
  extra: readonly LogsqlFilter[],
): EmbeddedQuery {
  const timed = time === undefined || query.options?.ignoreGlobalTimeFilter === true ? [] : [time];
  const restricted = {
    ...query,
    filter: build.and(...timed, ...extra, query.filter),
    pipes: query.pipes.map((pipe) =>
      pipe.kind === 'union' ? { ...pipe, query: restrictQuery(pipe.query, time, extra) } : pipe,
    ),
  };
  return mapSubqueries(
    restricted,
    (test) => new EmbeddedTest({ ...test, query: restrictQuery(test.query, time, extra) }),
  );
}

function framed<T>(frame: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof LogsqlError) throw badRequest(frame + error.message);
    throw error;
  }
}

function parsePairs(text: string): [string, string[]][] | undefined {
  if (!/^\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\})/s.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Object.entries(value as object).map(([name, item]: [string, unknown]) => {
    const values = Array.isArray(item) ? (item as unknown[]) : [item];
    if (!values.every((one) => typeof one === 'string'))
      throw badRequest(`unexpected value for ${JSON.stringify(name)}; want text or a list of texts`);
    return [name, values];
  });
}
