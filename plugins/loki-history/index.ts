/** Stage `loki-history`: reads data from before a move to VictoriaLogs from the old Loki (docs/loki-history.md). */
import type { LokiHistoryOptions } from '../../core/base/options.gen.js';
import { parseRfc3339 } from '../../core/base/time/index.js';
import type { TimeRange } from '../../core/base/time/range.js';
import { metricLimits } from '../../core/engine/metric/metric.js';
import { LineWorkers, type MetricExpr } from '../../core/logql/index.js';
import { binaryLimits, type MetricLimits } from '../../core/logql/metric/index.js';
import { operationOf } from '../../core/operations/index.js';
import {
  defineStage,
  type Answer,
  type ApiRequest,
  type Exchange,
  type Host,
  type Rest,
  type Stage,
} from '../../core/plugin/index.js';
import {
  type DetectedFieldsRequest,
  type DetectedFieldValuesRequest,
  readAhead,
} from '../../core/wire/api/request.js';
import { warned } from '../../core/wire/answer/warned.js';
import { rangeOn, type OldTimes, type Place } from './border.js';
import type { LineReading } from './line-reader.js';
import { lint } from './lint.js';
import { answerLogLines } from './log-lines.js';
import { answerMerged } from './merged.js';
import { answerDivided, dividedMetric, placeOfAll } from './metric.js';
import { historyMetrics } from './metrics.js';
import { isOldLokiFailure, OldLoki } from './old-loki.js';
import { rethrown, Sides } from './sides.js';
import type { MetricRequest } from './window-parts.js';
import { FieldScan } from '../../core/engine/fields/field-scan.js';
import { scanStreams } from '../../core/engine/fields/detected-fields.js';
import { defaultStepNs } from '../../core/wire/api/params/reader.js';

const warning = 'partial response: the old Loki could not be read, so old data is missing';

export default defineStage<LokiHistoryOptions, 'tenant', never, typeof historyMetrics>({
  name: 'loki-history',
  summary: 'Reads data from before a move from the old Loki, and merges it with the backend’s.',
  needs: ['tenant'],
  gives: [],
  rest: 'many',
  optional: true,
  behindCaches: true,
  metrics: historyMetrics,
  lint,
  create(options, host) {
    const { url, until } = options;
    if (url === undefined || url === '') return passThrough;
    const untilNs = until === undefined ? undefined : parseRfc3339(until);
    if (untilNs === undefined) throw new Error('-loki-history-until is not set');
    return lokiHistory(url, untilNs, options, host);
  },
});

const passThrough: Stage<'tenant', never> = {
  handle: (exchange, rest) => rest(exchange),
  admitAgain: () => () => true,
};

function lokiHistory(
  url: string,
  untilNs: bigint,
  options: LokiHistoryOptions,
  host: Host<typeof historyMetrics>,
): Stage<'tenant', never> {
  const { limits, meters, naming } = host;
  const loki = new OldLoki(url, options, host);
  const workers = new LineWorkers({ threads: options.lineThreads, timeoutMs: options.lineTimeout });

  /** Answers a request over a range: passes it on if it has new data only. */
  async function ranged(
    exchange: Exchange<'tenant'>,
    request: Extract<ApiRequest, { readonly range: TimeRange }>,
    rest: Rest,
    answer: (sides: Sides) => Promise<Answer>,
  ): Promise<Answer> {
    const [older, newer] = [rangeOn('old', request.range, untilNs), rangeOn('new', request.range, untilNs)];
    const place = older === undefined ? 'new' : newer === undefined ? 'old' : 'both';
    count(place);
    if (place === 'new') return rest(exchange);
    try {
      return await answer(new Sides(exchange, rest, loki));
    } catch (error) {
      const partial = partialOr(error);
      if (newer === undefined) return partial(operationOf(request).empty(request));
      return partial(await rest(exchange.derive({ request: { ...request, range: newer }, isFinal: false })));
    }
  }

  async function metric(
    exchange: Exchange<'tenant'>,
    request: MetricRequest,
    expr: MetricExpr,
    rest: Rest,
  ): Promise<Answer> {
    const { oldestNs } = exchange.slots.tenant;
    const times: OldTimes = { oldestNs, untilNs };
    const divided = dividedMetric(request, expr, times);
    const place = placeOfAll(divided);
    count(place);
    if (place === 'new') return rest(exchange);
    const sides = new Sides(exchange, rest, loki);
    const { maxLines, linesPerCall } = options;
    const lines: LineReading = {
      ...{ sides, untilNs, maxLines, linesPerCall },
      onLines: (count) => meters.loki_history_lines_total.add(count, {}),
    };
    const deps = { sides, times, workers, lines };
    return answerDivided(divided, request, deps, limitsOf(exchange, request), (error) =>
      partialOr(error)(operationOf(request).empty(request)),
    );
  }

  function limitsOf({ caller, memory, slots }: Exchange<'tenant'>, request: MetricRequest): MetricLimits {
    const { id, limitIds = [id] } = slots.tenant;
    const { maxQuerySeries } = limits.of(limitIds);
    const { approxTopk } = limits.process;
    return {
      ...metricLimits(request, caller, maxQuerySeries),
      ...{ approxTopk, memory, binary: binaryLimits(limits.process) },
    };
  }

  /** Adds the warning to an answer without old data if there may be one; otherwise throws the error. */
  function partialOr(error: unknown): (answer: Answer) => Answer {
    if (!options.partialResponses || !isOldLokiFailure(error)) return rethrown(error);
    return (answer) => {
      const partial = warned(answer, warning);
      if (partial === undefined) throw error;
      meters.loki_history_partial_answers_total.add(1, {});
      return partial;
    };
  }

  function count(place: Place): void {
    meters.loki_history_requests_total.add(1, { route: place });
  }

  return {
    start: () => loki.start(),
    async stop() {
      workers.close();
      await loki.stop();
    },
    /** An exchange that was passed on has no old data, however often it is repeated. */
    admitAgain: () => () => true,
    async handle(exchange, rest) {
      const { request, slots } = exchange;
      // The old Loki is not asked for tenants that the configuration does not know.
      if (slots.tenant.hasNoData === true) return rest(exchange);
      switch (request.op) {
        case 'query_range':
        case 'query': {
          await readAhead(request, exchange.signal);
          const { ast } = request.query;
          if (ast.kind !== 'log') return metric(exchange, request, ast, rest);
          if (request.op === 'query') return rest(exchange);
          return ranged(exchange, request, rest, (sides) => answerLogLines(request, untilNs, sides));
        }
        case 'detected_fields':
        case 'detected_field_values': {
          await readAhead(request, exchange.signal);
          if (request.query.ast.kind !== 'log') return rest(exchange);
          const place = { workers, signal: exchange.signal, memory: exchange.memory };
          const keepsDots = naming.dottedNames === 'accept';
          return ranged(exchange, request, rest, (sides) =>
            answerFields(request, untilNs, sides, place, keepsDots),
          );
        }
        case 'labels':
        case 'label_values':
        case 'series':
        case 'index_stats':
        case 'index_shards':
        case 'volume':
        case 'volume_range':
        case 'detected_labels':
        case 'patterns':
          return ranged(exchange, request, rest, (sides) => answerMerged(request, untilNs, sides));
        case 'format_query':
        case 'tail':
        case 'delete':
        case 'deletions':
        case 'tenant':
          return rest(exchange);
      }
    },
  };
}

type FieldsRequest = DetectedFieldsRequest | DetectedFieldValuesRequest;

/** Answers with the fields of the newest lines of both sides, which are read and parsed here: a Loki only gives numbers of values. */
async function answerFields(
  request: FieldsRequest,
  untilNs: bigint,
  sides: Sides,
  place: ConstructorParameters<typeof FieldScan>[1],
  keepsDots: boolean,
): Promise<Answer> {
  const { query, range, limit, lineLimit } = request;
  const { streams, warnings } = await answerLogLines(
    {
      ...{ op: 'query_range', query, range, stepNs: defaultStepNs(range), limit: lineLimit },
      ...{ direction: 'backward', intervalNs: 0n },
    },
    untilNs,
    sides,
  );
  if (request.op === 'detected_fields') {
    const scan = new FieldScan({ maxFields: limit, keepsDots }, place);
    await scanStreams(streams, scan);
    return { kind: 'detected-fields', fields: await scan.fields(), limit, warnings };
  }
  const scan = new FieldScan({ maxFields: 1, keepsDots, only: request.name }, place);
  await scanStreams(streams, scan);
  const [field] = await scan.fields();
  return { kind: 'detected-field-values', values: field?.values.slice(0, limit) ?? [], limit, warnings };
}
