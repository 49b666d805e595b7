import type { Tenant } from '../../base/caller.js';
import { atPace, doAll, Pacer, type Steps } from '../../base/pace/steps.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Expr, Matcher } from '../../logql/ast.js';
import { matchersSteps, parseSteps, printPlain } from '../../logql/index.js';
import type { DeletionTaken } from '../../victoria/upstream/types.js';
import type { FollowRules } from './follow-rules.js';

/** Determines whether LogQL may use names with dots (`-logql-dotted-names`). */
export type DottedNames = 'reject' | 'accept';

/**
 * A LogQL query as the client wrote it. It is parsed when its tree is first used, so that a missing tenant or an overload is reported
 * before a syntax error, as in Loki. The error is a LogqlError with Loki's text.
 */
export class Query {
  readonly text: string;
  readonly #dottedNames: DottedNames;
  readonly #read: () => Steps<Expr>;
  #tree: (() => Expr) | undefined;

  /** @param read creates the tree if it is not parsed from the text; both must have the same meaning */
  constructor(text: string, dottedNames: DottedNames, read?: () => Steps<Expr>) {
    this.text = text;
    this.#dottedNames = dottedNames;
    this.#read = read ?? (() => parseSteps(text, { dottedNames }));
  }

  get ast(): Expr {
    this.#tree ??= doAll(keptError(this.#read()));
    return this.#tree();
  }

  /**
   * Parses the text in advance, with pauses for other work because a long text takes a while. Its errors are thrown when the tree is used.
   */
  async read(pacer: Pacer): Promise<void> {
    this.#tree ??= await atPace(keptError(this.#read()), pacer);
  }

  /** The query with another tree, for stages that rewrite it. Its text is printed from the tree and parses back to it. */
  withAst(ast: Expr): Query {
    const changed = new Query(printPlain(ast), this.#dottedNames);
    changed.#tree = () => ast;
    return changed;
  }
}

/** A bare stream selector, as the label, series and index endpoints accept it. It is parsed as a Query is. */
export class Selector {
  readonly text: string;
  readonly #dottedNames: DottedNames;
  #matchers: (() => readonly Matcher[]) | undefined;

  constructor(text: string, dottedNames: DottedNames, matchers?: readonly Matcher[]) {
    this.text = text;
    this.#dottedNames = dottedNames;
    this.#matchers = matchers === undefined ? undefined : () => matchers;
  }

  get matchers(): readonly Matcher[] {
    this.#matchers ??= doAll(this.#read());
    return this.#matchers();
  }

  async read(pacer: Pacer): Promise<void> {
    this.#matchers ??= await atPace(this.#read(), pacer);
  }

  withMatchers(text: string, matchers: readonly Matcher[]): Selector {
    return new Selector(text, this.#dottedNames, matchers);
  }

  #read(): Steps<() => readonly Matcher[]> {
    return keptError(matchersSteps(this.text, { dottedNames: this.#dottedNames }));
  }
}

/** Steps that return the result, or throw the error, for each caller. */
function* keptError<Result>(steps: Steps<Result>): Steps<() => Result> {
  try {
    const result = yield* steps;
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Volumes are summed by label set or by label name. */
export type VolumeAggregation = 'series' | 'labels';

interface Volume extends Ranged {
  /** May be `{}`, which selects every stream. */
  readonly query: Selector;
  /** Maximum number of entries in the answer, largest first. */
  readonly limit: number;
  /** Labels to sum by; empty for the labels that the selector names. */
  readonly targetLabels: readonly string[];
  readonly aggregateBy: VolumeAggregation;
}
export interface VolumeRequest extends Volume {
  readonly op: 'volume';
}
export interface VolumeRangeRequest extends Volume {
  readonly op: 'volume_range';
  readonly stepNs: bigint;
}
export interface IndexShardsRequest extends Ranged {
  readonly op: 'index_shards';
  readonly query: Query;
  readonly targetBytesPerShard: number;
}
export interface DetectedLabelsRequest extends Ranged {
  readonly op: 'detected_labels';
  readonly query?: Selector;
}

interface Scan extends Ranged {
  readonly query: Query;
  /** Maximum number of lines to read, newest first. */
  readonly lineLimit: number;
  /** Maximum number of fields or values in the answer. */
  readonly limit: number;
}
export interface DetectedFieldsRequest extends Scan {
  readonly op: 'detected_fields';
}
export interface DetectedFieldValuesRequest extends Scan {
  readonly op: 'detected_field_values';
  readonly name: string;
}

/** The maximum cost of a pattern search, and its configured patterns. */
export interface PatternSearch {
  readonly maxRows: number;
  readonly secondPassMaxRows: number;
  readonly secondPassMaxWindows: number;
  /** Configured patterns, which come first in every answer. */
  readonly custom: readonly string[];
}
export interface PatternsRequest extends Ranged {
  readonly op: 'patterns';
  readonly query: Selector;
  readonly stepNs: bigint;
  /** Maximum number of patterns in the answer. */
  readonly limit: number;
  readonly search: PatternSearch;
}

/** Requests by which clients explore the data: volumes, fields, labels, patterns (docs/protocol/requests.md#read-api). */
export type DiscoveryRequest =
  | VolumeRequest
  | VolumeRangeRequest
  | IndexShardsRequest
  | DetectedLabelsRequest
  | DetectedFieldsRequest
  | DetectedFieldValuesRequest
  | PatternsRequest;

export type Direction = 'backward' | 'forward';

/** Browse extensions of label listings; only set when `-label-browse-extensions` allows them. */
export interface Browse {
  readonly limit?: number;
  readonly offset?: number;
  readonly search?: string;
}

interface Ranged {
  readonly range: TimeRange;
}

/** Set if the query is one part of a metric expression that is evaluated elsewhere: the limit on series does not apply. */
interface PartOfExpression {
  readonly isPart?: boolean;
}

export interface QueryRangeRequest extends Ranged, PartOfExpression {
  readonly op: 'query_range';
  readonly query: Query;
  readonly stepNs: bigint;
  readonly limit: number;
  readonly direction: Direction;
  readonly intervalNs: bigint;
  /** Set for a part of a longer range that the caller caches, and for the count of its rows: neither is cached a second time. */
  readonly part?: 'window' | 'count';
}
export interface QueryRequest extends PartOfExpression {
  readonly op: 'query';
  readonly query: Query;
  readonly timeNs: bigint;
  readonly limit: number;
  readonly direction: Direction;
}
/** Set if the client sent no time: the range is the default, and may be shortened to the tenant's limit. */
interface OpenRange extends Ranged {
  readonly isOpenRange?: boolean;
}
export interface LabelsRequest extends OpenRange {
  readonly op: 'labels';
  readonly query?: Selector;
  readonly browse: Browse;
}
export interface LabelValuesRequest extends OpenRange {
  readonly op: 'label_values';
  readonly name: string;
  readonly query?: Selector;
  readonly browse: Browse;
}
export interface SeriesRequest extends OpenRange {
  readonly op: 'series';
  /** A stream matches if any of them selects it; an empty list selects all streams. */
  readonly selectors: readonly Selector[];
}
export interface IndexStatsRequest extends Ranged {
  readonly op: 'index_stats';
  readonly query: Selector;
}
export interface FormatQueryRequest {
  readonly op: 'format_query';
  readonly query: Query;
}
/** Requests entries as they arrive, after the newest `limit` entries of the range (docs/protocol/requests.md#tail). */
export interface TailRequest extends Ranged {
  readonly op: 'tail';
  readonly query: Query;
  readonly limit: number;
  /** Age at which entries are shown. */
  readonly delayNs: bigint;
  readonly follow: FollowRules;
}

/** Requests the permanent deletion of rows; its route has safeguards (docs/protocol/requests.md#deletion). */
export interface DeleteRequest extends Ranged {
  readonly op: 'delete';
  readonly query: Query;
  /**
   * Called to send the deletion once it is certain that it will be sent, for a caller with work before and after it; by default it is just
   * sent.
   */
  readonly around?: (tenant: Tenant, send: () => Promise<DeletionTaken>) => Promise<DeletionTaken>;
}

/** Requests the ids of the deletions that the backend has not finished. */
export interface DeletionsRequest {
  readonly op: 'deletions';
}

/** Requests only the tenant: for routes that answer from another source, but only to callers that the chain would answer. */
export interface TenantRequest {
  readonly op: 'tenant';
}

/** A validated request of the read API, independent of HTTP (docs/protocol/requests.md#read-api). */
export type ApiRequest =
  | QueryRangeRequest
  | QueryRequest
  | LabelsRequest
  | LabelValuesRequest
  | SeriesRequest
  | IndexStatsRequest
  | FormatQueryRequest
  | TailRequest
  | DeleteRequest
  | DeletionsRequest
  | TenantRequest
  | DiscoveryRequest;

export type Operation = ApiRequest['op'];

/** Minimum length of a text after which work pauses. */
const longText = 2_048;

/** Parses the query and the selectors of a request in advance, with pauses for other work; see Query.read. */
export async function readAhead(request: ApiRequest, signal: AbortSignal): Promise<void> {
  const pacer = new Pacer(signal);
  for (const text of textsOf(request)) {
    await text.read(pacer);
    await pacer.due();
  }
}

function textsOf(request: ApiRequest): readonly (Query | Selector)[] {
  if ('selectors' in request) return request.selectors;
  const query: Query | Selector | undefined = 'query' in request ? request.query : undefined;
  return query === undefined ? [] : [query];
}

/** Pauses for other work after a step that processed a long query as a whole. */
export async function pauseBehind(request: ApiRequest, signal: AbortSignal): Promise<void> {
  if ('query' in request && request.query.text.length > longText) await new Pacer(signal).due();
}
