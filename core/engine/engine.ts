import { ofKey } from '../base/memory/byte-lru.js';
import type { ResponseShapeOptions } from '../base/options.gen.js';
import type { TimeRange } from '../base/time/range.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Host } from '../kernel/plugin/host.js';
import { printQuery } from '../logql/index.js';
import { LineWorkers } from '../logql/lines/line-workers.js';
import type { Naming } from '../victoria/names/naming.js';
import { RowReader } from '../victoria/names/row-reader.js';
import type { Answer } from '../wire/answer/types.js';
import type { ApiRequest, Operation } from '../wire/api/request.js';
import type { EngineContext, ScanOptions } from './context.js';
import { deleteRows, listDeletions } from './deletion/delete-rows.js';
import type { Facts } from './facts.js';
import { answerDetectedFields, answerDetectedFieldValues } from './fields/detected-fields.js';
import { answerDetectedLabels } from './fields/detected-labels.js';
import { listLabelNames, listLabelValues, listSeries, answerStoredList } from './listings/listings.js';
import { compileDerivedFields, type DeriveFields } from './logs/derived-fields.js';
import { answerLogs } from './logs/logs.js';
import { createMemories, type Memories } from './memories.js';
import type { ReadStrategy } from './metric/context.js';
import { executeGathered } from './metric/gathered.js';
import { executeMetric } from './metric/metric.js';
import { strategies } from './metric/strategies.js';
import { RowThreads } from './metric/threads/row-threads.js';
import type { engineMetrics } from './metrics.js';
import { answerPatterns } from './patterns/patterns.js';
import type { Plan, PlanKind } from './plan/types.js';
import { planRequest } from './plan/plan.js';
import { answerTail } from './tail/open.js';
import { answerIndexStats, answerLineCounts, answerShards } from './volume/index-stats.js';
import { answerVolume } from './volume/volume.js';

export type EngineOptions = ScanOptions &
  Pick<ResponseShapeOptions, 'lineThreads' | 'lineTimeout' | 'rowThreads' | 'rowThreadsMinRows'> &
  Partial<Pick<ResponseShapeOptions, 'derivedFields' | 'repeatedRows'>>;
type EngineHost = Pick<
  Host<typeof engineMetrics>,
  'naming' | 'learner' | 'limits' | 'clock' | 'log' | 'meters'
>;

/** Plans requests, executes the plans on the backend, and remembers facts about its data. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #host: EngineHost;
  readonly #memories: Memories;
  readonly #derive: DeriveFields | undefined;
  readonly #workers: LineWorkers;
  readonly #rowThreads: RowThreads;
  readonly #strategies: readonly ReadStrategy[];
  /** One reader for all tenants with the same naming. */
  readonly #readers = new WeakMap<Naming, RowReader>();

  /** @param ways strategies for leaves of metric queries; tests force single ones */
  constructor(options: EngineOptions, host: EngineHost, ways: readonly ReadStrategy[] = strategies) {
    this.#options = options;
    this.#host = host;
    this.#memories = createMemories(host);
    const { meters } = host;
    this.#workers = new LineWorkers({
      threads: options.lineThreads,
      timeoutMs: options.lineTimeout,
      observer: {
        changed: (threads, waiting) => {
          meters.line_threads.set(threads, {});
          meters.line_threads_waiting.set(waiting, {});
        },
        ended: (outcome) => meters.line_threads_lines_total.add(1, { outcome }),
      },
    });
    this.#rowThreads = new RowThreads(options, this.#workers, meters);
    this.#strategies = ways;
    this.#derive = compileDerivedFields(options.derivedFields ?? []);
  }

  /** Facts about time segments, to keep over a restart and to share with peers. */
  get facts(): Facts {
    return this.#memories.facts;
  }

  stop(): Promise<void> {
    this.#rowThreads.close();
    this.#workers.close();
    return Promise.resolve();
  }

  async run(exchange: Exchange<'tenant' | 'plan' | 'upstream'>): Promise<Answer> {
    const { request, caller, trace, signal, memory } = exchange;
    const { upstream, tenant } = exchange.slots;
    const { limits, clock, log, meters, learner } = this.#host;
    const naming = this.#host.naming.forTenant(tenant);
    const { plan, labelFields } = await planRequest(exchange, naming, learner);
    return execute(plan, request, {
      ...{ upstream, naming, labelFields, reader: ofKey(this.#readers, naming, () => new RowReader(naming)) },
      ...{ tenant, caller, trace, signal, memory, limits, clock, log, meters },
      options: this.#options,
      memories: this.#memories,
      workers: this.#workers,
      rowThreads: this.#rowThreads,
      strategies: this.#strategies,
      assumptions: exchange.slots.assumptions,
      repeatedRows: this.#options.repeatedRows ?? 'once',
      derive: this.#derive,
      showsGroups: naming.emitStructuredMetadata || !caller.categorizeLabels,
    });
  }
}

/** Executes a plan for a request on the backend of an exchange. */
type Executor<Planned, Request> = (
  plan: Planned,
  request: Request,
  context: EngineContext,
) => Answer | Promise<Answer>;

type Plans = { readonly [Kind in PlanKind]: Extract<Plan, { readonly kind: Kind }> };
type Requests = { readonly [Op in Operation]: Extract<ApiRequest, { readonly op: Op }> };
type ByOperation<Planned> = { readonly [Op in Operation]?: Executor<Planned, Requests[Op]> };
type Executors = { readonly [Kind in PlanKind]: ByOperation<Plans[Kind]> };

/** Every kind of plan, with the operations that it answers and their executors. */
const executors = {
  logs: { query_range: ranged(answerLogs), tail: answerTail },
  metric: { query_range: executeMetric, query: executeMetric },
  gathered: { query_range: executeGathered },
  'label-names': { labels: ranged(listLabelNames) },
  'label-values': { label_values: ranged(listLabelValues) },
  series: { series: ranged(listSeries) },
  'index-stats': { index_stats: ranged(answerIndexStats) },
  volume: { volume: ranged(answerVolume), volume_range: ranged(answerVolume) },
  'line-counts': { query_range: answerLineCounts },
  'stored-list': { series: answerStoredList },
  shards: { index_shards: ranged(answerShards) },
  'detected-labels': { detected_labels: ranged(answerDetectedLabels) },
  'detected-fields': {
    detected_fields: ranged(answerDetectedFields),
    detected_field_values: ranged(answerDetectedFieldValues),
  },
  patterns: { patterns: ranged(answerPatterns) },
  delete: { delete: deleteRows },
  deletions: { deletions: listDeletions },
  tenant: { tenant: (_plan, _request, { tenant }) => ({ kind: 'tenant', tenant }) },
  format: { format_query: ({ expr }) => ({ kind: 'formatted', query: printQuery(expr) }) },
} as const satisfies Executors;

/** Fails to compile if an operation has no executor. */
type Executed = { [Kind in PlanKind]: keyof (typeof executors)[Kind] }[PlanKind];
const table: Operation extends Executed ? Executors : never = executors;

async function execute(plan: Plan, request: ApiRequest, context: EngineContext): Promise<Answer> {
  const executor = executorOf(plan.kind, request.op);
  if (executor === undefined) throw new Error(`the plan does not belong to a request for ${request.op}`);
  return executor(plan, request, context);
}

function executorOf<Kind extends PlanKind, Op extends Operation>(
  kind: Kind,
  op: Op,
): Executor<Plans[Kind], Requests[Op]> | undefined {
  const byOperation: ByOperation<Plans[Kind]> = table[kind];
  return byOperation[op];
}

/** Converts the range: the backend reads [start, end), and Loki treats equal bounds as that single instant. */
function ranged<Planned, Request extends { readonly range: TimeRange }>(
  executor: Executor<Planned, Request>,
): Executor<Planned, Request> {
  return (plan, request, context) => {
    const { startNs, endNs } = request.range;
    const instant = { ...request, range: { startNs, endNs: endNs + 1n } };
    return executor(plan, startNs === endNs ? instant : request, context);
  };
}
