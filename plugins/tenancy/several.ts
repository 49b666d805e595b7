import type { Answer, Entry, NamesAnswer, StreamsAnswer } from '../../core/wire/answer/types.js';
import type { Tenant } from '../../core/base/caller.js';
import {
  type ApiRequest,
  type Browse,
  type DetectedFieldsRequest,
  type DetectedFieldValuesRequest,
  type QueryRangeRequest,
  readAhead,
} from '../../core/wire/api/request.js';
import type { Limits } from '../../core/wire/limits/limits.js';
import { binaryLimits } from '../../core/logql/metric/index.js';
import { apiError } from '../../core/base/errors/table.js';
import { type MergeOptions, mergeStreams } from '../../core/wire/answer/merge/index.js';
import type { TenantPart, TenantStrategy, TenantMerge } from '../../core/operations/descriptor.js';
import { operationOf, oversizedText } from '../../core/operations/index.js';
import { once } from '../../core/operations/rules/tenants.js';
import { isFound, pageOf } from '../../core/operations/rules/paging.js';
import { tenantLabel } from '../../core/operations/rules/tenant-names.js';
import type { Exchange, Rest } from '../../core/plugin/index.js';
import { fanOut } from './fan-out.js';
import { answerTogether } from './metric.js';
import { labelAnswer } from './tenant-label.js';
import { defaultStepNs } from '../../core/wire/api/params/reader.js';
import { IntervalFilter } from '../../core/wire/answer/encode-streams.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';

/** Answers a request over several tenants (docs/protocol/tenants.md#several-tenants). */
export async function answerSeveral(
  exchange: Exchange,
  rest: Rest<'tenant'>,
  tenants: readonly [Tenant, ...Tenant[]],
  limits: Pick<Limits, 'of' | 'process'>,
): Promise<Answer> {
  const { request } = exchange;
  const { tenants: rule, empty } = operationOf(request);
  if (rule.kind === 'refused') throw apiError(rule.error, {});
  const strategy = await chooseStrategy(exchange, rule, tenants, limits.process.maxQueryLengthBytes);
  switch (strategy.kind) {
    case 'once':
      return rest(exchange.derive<'tenant'>({ slots: { tenant: tenants[0] }, isFinal: false }));
    case 'together': {
      const { maxQuerySeries } = limits.of(tenants.map(({ id }) => id));
      return answerTogether(exchange, strategy.request, strategy.expr, rest, tenants, {
        maxSeries: maxQuerySeries,
        binary: binaryLimits(limits.process),
        approxTopk: limits.process.approxTopk,
      });
    }
    case 'tenant-names':
      return names(strategy.tenantIds, strategy.browse);
    case 'merge': {
      const run = async ({ tenant, request: part }: TenantPart, signal: AbortSignal): Promise<Answer> => {
        const derived = exchange.derive<'tenant'>({
          request: part,
          slots: { tenant },
          signal,
          isFinal: false,
        });
        return labelAnswer(await rest(derived), tenant.id, !exchange.caller.categorizeLabels);
      };
      const merge = (parts: readonly TenantPart[], options: MergeOptions): Promise<Answer | undefined> =>
        fanOut(parts, run, {
          merge: options,
          maxBytes: limits.process.multiTenantMaxMergedResponseBytes,
          signal: exchange.signal,
        });
      const isApart = request.op === 'query_range' && request.intervalNs > 0n;
      const parts = isScan(request) ? await partsOfNewest(request, strategy.parts, merge) : strategy.parts;
      const merged = await (isApart
        ? answerApart(request, parts, merge, exchange.signal)
        : merge(parts, rule.mergeOptions(request)));
      return merged === undefined ? empty(request) : rule.finish(merged, request);
    }
  }
}

async function chooseStrategy(
  { request, signal }: Exchange,
  rule: TenantMerge<ApiRequest>,
  tenants: readonly Tenant[],
  maxQueryBytes: number,
): Promise<TenantStrategy> {
  // The guard rejects a text that is too long for every tenant alike, so it is not parsed here first.
  if (oversizedText(request, maxQueryBytes) !== undefined) return once;
  await readAhead(request, signal);
  return rule.strategy(request, tenants);
}

/** The values of the tenant label for a single tenant: its own id, whatever is selected. */
export function ownName(request: ApiRequest, { id }: Tenant): NamesAnswer | undefined {
  const isAsked = request.op === 'label_values' && request.name === tenantLabel && id !== '';
  return isAsked ? names([id], request.browse) : undefined;
}

function names(values: readonly string[], browse: Browse): NamesAnswer {
  const found = values.filter((value) => isFound(value, browse));
  return { kind: 'names', values: pageOf(found, browse), warnings: [] };
}

type ScanRequest = DetectedFieldsRequest | DetectedFieldValuesRequest;

/** True if a request reads the newest lines. */
function isScan(request: ApiRequest): request is ScanRequest {
  return request.op === 'detected_fields' || request.op === 'detected_field_values';
}

/**
 * The parts of a request that reads the newest lines of all tenants together: a query for these lines determines how many of them belong to
 * each tenant. The parts keep the order of Loki's streams, because the line read last determines the type of a field.
 * @param merged requests parts and merges their answers
 */
async function partsOfNewest(
  { query, range, lineLimit: limit }: ScanRequest,
  parts: readonly TenantPart[],
  merged: (parts: readonly TenantPart[], options: MergeOptions) => Promise<Answer | undefined>,
): Promise<readonly TenantPart[]> {
  if (parts.length < 2) return parts;
  const direction = 'backward';
  const stepNs = defaultStepNs(range);
  const lines = { op: 'query_range', range, stepNs, limit, direction, intervalNs: 0n } as const;
  const newest = await merged(
    parts.map(({ tenant, request }) => ({
      tenant,
      request: { ...lines, query: isScan(request) ? request.query : query },
    })),
    { direction, limit },
  );
  const counts = new Map<string, number>();
  for (const { labels, entries } of newest?.kind === 'streams' ? newest.streams : []) {
    const id = labels.get(tenantLabel);
    counts.set(id, (counts.get(id) ?? 0) + entries.length);
  }
  return parts.flatMap(({ tenant, request }) => {
    const lineLimit = counts.get(tenant.id) ?? 0;
    return lineLimit > 0 && isScan(request) ? [{ tenant, request: { ...request, lineLimit } }] : [];
  });
}

type Narrowing = Pick<QueryRangeRequest, 'range' | 'limit' | 'intervalNs'>;

/**
 * Answers a log query with an interval over several tenants. As in Loki, the interval applies to the entries of all tenants together. The
 * entries that a tenant alone would keep do not determine these, so all entries of each tenant are requested, repeatedly from the earliest
 * possible next one.
 * @param merged requests the parts and merges their answers
 * @param signal ends it
 */
async function answerApart(
  request: QueryRangeRequest,
  parts: readonly TenantPart[],
  merged: (parts: readonly TenantPart[], options: MergeOptions) => Promise<Answer | undefined>,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const { direction, intervalNs, limit } = request;
  const apart = new IntervalFilter(intervalNs, direction);
  const rounds: StreamsAnswer[] = [];
  let missing = limit;
  let { range } = request;
  do {
    const narrowing = { range, limit: missing, intervalNs: 0n };
    const answer = await merged(
      parts.map((part) => narrowed(part, narrowing)),
      { direction, limit: missing },
    );
    if (answer?.kind !== 'streams') return answer;
    const round = keep(answer, request, apart);
    rounds.push(round);
    const isAll = answer.stats.entriesReturned < missing;
    missing -= round.stats.entriesReturned;
    if (isAll) break;
    range = apart.rest(range);
  } while (missing > 0 && range.startNs < range.endNs);
  return atPace(mergeStreams(rounds, { direction }), new Pacer(signal));
}

function narrowed(part: TenantPart, narrowing: Narrowing): TenantPart {
  return part.request.op === 'query_range' ? { ...part, request: { ...part.request, ...narrowing } } : part;
}

function keep(answer: StreamsAnswer, { direction }: QueryRangeRequest, apart: IntervalFilter): StreamsAnswer {
  const sign = direction === 'forward' ? 1 : -1;
  const inOrder = answer.streams
    .flatMap(({ entries }) => entries)
    .sort((a, b) => sign * Number(a.timestampNs - b.timestampNs));
  const kept = new Set<Entry>(inOrder.filter(({ timestampNs }) => apart.takes(timestampNs)));
  const streams = answer.streams
    .map(({ labels, entries }) => ({ labels, entries: entries.filter((entry) => kept.has(entry)) }))
    .filter(({ entries }) => entries.length > 0);
  return { ...answer, streams, stats: { ...answer.stats, entriesReturned: kept.size } };
}
