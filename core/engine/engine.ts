import type { TimeRange } from '../base/time/range.js';
import type { ApiRequest } from '../wire/api/request.js';
import { printQuery } from '../logql/index.js';
import type { LineWorkers } from '../logql/lines/line-workers.js';
import { binaryLimits } from '../logql/metric/index.js';
import { learnerOf, type NameLearner } from '../victoria/names/name-learner.js';
import type { Naming } from '../victoria/names/naming.js';
import { RowReader } from '../victoria/names/row-reader.js';
import type { ResponseShapeOptions } from '../base/options.gen.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Host } from '../kernel/plugin/host.js';
import type { Answer } from '../wire/answer/types.js';
import type { Stage } from '../kernel/plugin/contract.js';
import { compileDerivedFields, type DeriveFields } from './logs/derived-fields.js';
import { deleteRows } from './deletion/delete-rows.js';
import { answerDetectedFields, answerDetectedFieldValues } from './fields/detected-fields.js';
import { answerDetectedLabels } from './fields/detected-labels.js';
import { answerIndexStats } from './volume/index-stats.js';
import { createLineWorkers } from './line-workers.js';
import { listLabelNames, listLabelValues, listSeries } from './listings/listings.js';
import { answerLogs } from './logs/logs.js';
import { createMemories, type Memories, type responseShapeMetrics } from './memories.js';
import { answerMetric, metricLimits } from './metric/metric.js';
import { answerTail } from './tail/answer-tail.js';
import { answerPatterns } from './patterns/patterns.js';
import { refinedPlan } from './refined-plan.js';
import { answerShards } from './volume/shards.js';
import { answerVolume } from './volume/volume.js';

type ScanOptions = Pick<
  ResponseShapeOptions,
  'detectedFieldsMaxScanLines' | 'drilldownScanTimeout' | 'lineThreads' | 'lineTimeout'
> &
  Partial<Pick<ResponseShapeOptions, 'derivedFields'>>;
type StageHost = Pick<Host<typeof responseShapeMetrics>, 'naming' | 'limits' | 'clock' | 'log' | 'meters'>;
type Needs = 'tenant' | 'plan' | 'upstream';

/** Executes a plan over the backend and returns a typed answer. */
export class ResponseShapeStage implements Stage<Needs, never> {
  readonly #options: ScanOptions;
  readonly #host: StageHost;
  /** One reader for all tenants that see the same names. */
  readonly #readers = new Map<Naming, RowReader>();
  readonly #learner: NameLearner;

  readonly #memories: Memories;
  readonly #derive: DeriveFields | undefined;
  readonly #workers: LineWorkers;

  constructor(options: ScanOptions, host: StageHost) {
    this.#options = options;
    this.#host = host;
    this.#learner = learnerOf(host.naming, host.clock);
    this.#memories = createMemories(host);
    this.#workers = createLineWorkers(options, host);
    this.#derive = compileDerivedFields(options.derivedFields ?? []);
  }

  stop(): Promise<void> {
    this.#workers.close();
    return Promise.resolve();
  }

  async handle(exchange: Exchange<Needs>): Promise<Answer> {
    const { upstream, tenant } = exchange.slots;
    const { request } = exchange;
    const { limits, clock } = this.#host;
    const naming = this.#host.naming.forTenant(tenant.id);
    const plan = await refinedPlan(exchange, naming, this.#learner);
    const workers = this.#workers;
    const backend = { upstream, reader: this.#readerOf(naming), naming };
    switch (plan.kind) {
      case 'logs': {
        const showsGroups = naming.emitStructuredMetadata || !exchange.caller.categorizeLabels;
        if (request.op === 'tail') {
          const maxHistory = limits.of([tenant.id]).maxEntriesLimitPerQuery;
          const { signal, memory } = exchange;
          return answerTail(plan, request, {
            ...backend,
            clock,
            showsGroups,
            signal,
            memory,
            workers,
            maxHistory,
          });
        }
        if (request.op !== 'query_range') throw mismatch(request);
        const answer = await answerLogs(
          plan,
          { ...request, range: rangeOf(request) },
          { ...backend, clock, showsGroups, workers, signal: exchange.signal, memory: exchange.memory },
        );
        const derive = showsGroups ? this.#derive : undefined;
        return derive === undefined ? answer : { ...answer, streams: derive(answer.streams) };
      }
      case 'metric': {
        if (request.op !== 'query_range' && request.op !== 'query') throw mismatch(request);
        const maxSeries = limits.of(tenant.limitIds ?? [tenant.id]).maxQuerySeries;
        return answerMetric(plan, request, {
          ...backend,
          clock,
          workers,
          signal: exchange.signal,
          maxRows: limits.process.manualRangeMetricRowLimit,
          ...this.#memories,
          owner: JSON.stringify([tenant.accountId, tenant.projectId, tenant.streamField ?? '', tenant.id]),
          limits: {
            ...metricLimits(request, exchange.caller, maxSeries),
            binary: binaryLimits(limits.process),
            memory: exchange.memory,
          },
        });
      }
      case 'label-names':
        if (request.op !== 'labels') throw mismatch(request);
        return listLabelNames(plan, rangeOf(request), request.browse, backend);
      case 'label-values': {
        if (request.op !== 'label_values') throw mismatch(request);
        const maxBytes = limits.of([tenant.id]).labelValuesMaxResponseBytes;
        return listLabelValues(plan, rangeOf(request), request.browse, { ...backend, maxBytes });
      }
      case 'series':
        if (request.op !== 'series') throw mismatch(request);
        return listSeries(plan, rangeOf(request), backend);
      case 'index-stats':
        if (request.op !== 'index_stats') throw mismatch(request);
        return answerIndexStats(plan, rangeOf(request), backend);
      case 'volume': {
        if (request.op !== 'volume' && request.op !== 'volume_range') throw mismatch(request);
        const maxSeries = limits.of([tenant.id]).volumeMaxSeries;
        return answerVolume(
          plan,
          { ...request, range: rangeOf(request) },
          {
            ...backend,
            clock,
            maxSeries,
            signal: exchange.signal,
          },
        );
      }
      case 'shards':
        if (request.op !== 'index_shards') throw mismatch(request);
        return answerShards(plan, request, rangeOf(request), backend);
      case 'detected-labels':
        if (request.op !== 'detected_labels') throw mismatch(request);
        return answerDetectedLabels(plan, rangeOf(request), backend);
      case 'detected-fields': {
        const { detectedFieldsMaxScanLines: maxLines, drilldownScanTimeout: timeoutMs } = this.#options;
        const context = {
          ...backend,
          clock,
          workers,
          signal: exchange.signal,
          memory: exchange.memory,
          maxLines,
          timeoutMs,
        };
        if (request.op === 'detected_field_values')
          return answerDetectedFieldValues(plan, { ...request, range: rangeOf(request) }, context);
        if (request.op !== 'detected_fields') throw mismatch(request);
        return answerDetectedFields(plan, { ...request, range: rangeOf(request) }, context);
      }
      case 'patterns':
        if (request.op !== 'patterns') throw mismatch(request);
        return answerPatterns(plan, request, rangeOf(request), {
          ...backend,
          signal: exchange.signal,
          memory: exchange.memory,
        });
      case 'delete':
        if (request.op !== 'delete') throw mismatch(request);
        return deleteRows(plan, request, exchange, this.#host);
      case 'tenant':
        return { kind: 'tenant', tenant };
      case 'format':
        return { kind: 'formatted', query: printQuery(plan.expr) };
    }
  }

  #readerOf(naming: Naming): RowReader {
    let reader = this.#readers.get(naming);
    if (reader === undefined) this.#readers.set(naming, (reader = new RowReader(naming)));
    return reader;
  }
}

/** The backend reads [start, end); Loki takes equal bounds as that one instant. */
function rangeOf({ range }: { readonly range: TimeRange }): TimeRange {
  return range.startNs === range.endNs ? { startNs: range.startNs, endNs: range.endNs + 1n } : range;
}

function mismatch(request: ApiRequest): Error {
  return new Error(`the plan does not belong to a request for ${request.op}`);
}
