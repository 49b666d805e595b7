import { ClientFailure, holds, json, members, present, text } from './check.js';
import { checkGrafanaAnswer, type GrafanaAnswer } from './grafana-reader.js';
import { nanos } from './demo-data.js';
import { browserQuery, goQuery, type Http, type Pairs, type Reply } from './http.js';

/** A query of a panel, Explore or an alert rule. */
export interface GrafanaQuery {
  readonly expr: string;
  /** If absent, the query is an instant query at `endMs`. */
  readonly startMs?: number;
  readonly endMs: number;
  /** Bounds with nanosecond precision, as in log context. */
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  readonly stepMs?: number;
  readonly limit?: number;
  readonly direction?: 'backward' | 'forward';
  /** The purpose of the query, which Grafana sends in X-Query-Tags. */
  readonly tag?: string;
}

const categorize = { 'X-Loki-Response-Encoding-Flags': 'categorize-labels' } as const;

/** The backend of Grafana's data source: the requests that it sends to Loki, and how it reads the responses. */
export class Grafana {
  readonly #http: Http;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(http: Http, orgId: string) {
    this.#http = http;
    this.#headers = {
      'User-Agent': 'Grafana/13.1.0',
      'Accept-Encoding': 'gzip',
      // Users set it in the data source settings.
      'X-Scope-OrgID': orgId,
    };
  }

  /** Sends a query and reads the response as Grafana would show it; checks the whole response contract. */
  async query(query: GrafanaQuery): Promise<GrafanaAnswer> {
    const reply = await this.#ask(query);
    if (reply.status !== 200) throw new ClientFailure(`${query.expr}: ${reply.status} ${reply.text}`);
    try {
      return checkGrafanaAnswer(reply.text, { isCategorized: true });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw new ClientFailure(
        `${query.expr}: Grafana cannot read it: ${problem}; ${reply.text.slice(0, 300)}`,
      );
    }
  }

  /** Sends a query that must fail; returns the message that users see. */
  async failure(query: GrafanaQuery): Promise<string> {
    const reply = await this.#ask(query);
    holds(reply.status >= 400, `${query.expr} was answered with ${reply.status}`);
    return shownMessage(reply.text);
  }

  /** Sends a resource call for labels, fields and the like; Grafana passes the JSON to the browser. */
  async resource(path: string, pairs: Pairs, tag?: string): Promise<unknown> {
    const reply = await this.#resource(path, pairs, tag);
    if (reply.status !== 200) throw new ClientFailure(`${path}: ${reply.status} ${reply.text}`);
    return json(reply.text, path);
  }

  /** Sends a resource call that must be rejected with a 4xx, whose message users see; the body of a 5xx would not help them. */
  async resourceFailure(path: string, pairs: Pairs): Promise<string> {
    const reply = await this.#resource(path, pairs);
    holds(
      reply.status >= 400 && reply.status < 500,
      `${path} was answered with ${reply.status}: ${reply.text}`,
    );
    return shownMessage(reply.text);
  }

  async #resource(path: string, pairs: Pairs, tag?: string): Promise<Reply> {
    const query = browserQuery(pairs);
    const headers = { ...this.#headers, ...tagsOf(tag) };
    return this.#http.send('GET', `/loki/api/v1/${path}`, { query, headers });
  }

  async #ask(query: GrafanaQuery): Promise<Reply> {
    const { expr, startMs, endMs, limit, direction = 'backward', tag } = query;
    // A step never yields more than 11,000 points for a range.
    const stepMs = query.stepMs ?? Math.max(1_000, Math.ceil((endMs - (startMs ?? endMs)) / 11_000));
    const pairs: (readonly [string, string])[] = [
      ['query', expr],
      ['direction', direction],
      ...(limit === undefined ? [] : [['limit', String(limit)] as const]),
    ];
    const startNs = query.startNs ?? (startMs === undefined ? undefined : nanos(startMs));
    const endNs = query.endNs ?? nanos(endMs);
    if (startNs === undefined) pairs.push(['time', String(endNs)]);
    else pairs.push(['start', String(startNs)], ['end', String(endNs)], ['step', `${stepMs}ms`]);
    return this.#http.send('GET', `/loki/api/v1/${startNs === undefined ? 'query' : 'query_range'}`, {
      query: goQuery(pairs),
      headers: { ...this.#headers, ...categorize, ...tagsOf(tag) },
    });
  }
}

function tagsOf(tag: string | undefined): Readonly<Record<string, string>> {
  return tag === undefined ? {} : { 'X-Query-Tags': `Source=${tag}` };
}

/** The text that Grafana shows for an error body: `message` of JSON, else the whole body. */
export function shownMessage(body: string): string {
  let message: unknown;
  try {
    message = (JSON.parse(body) as { readonly message?: unknown } | null)?.message;
  } catch {
    return body;
  }
  return typeof message === 'string' && message !== '' ? message : body;
}

/** A range as Grafana's browser code sends it for labels: nanoseconds computed in a float. */
export function metadataRange(startMs: number, endMs: number): Pairs {
  return [
    ['start', String(startMs * 1e6)],
    ['end', String(endMs * 1e6)],
  ];
}

/** The `data` member of a response with status "success". */
export function dataOf(answer: unknown, what: string): unknown {
  const fields = members(answer, what);
  holds(
    text(fields.get('status'), `${what}.status`) === 'success',
    `${what} says ${String(fields.get('status'))}`,
  );
  return present(fields.get('data'), `${what}.data`);
}
