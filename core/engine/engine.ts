import type { ResponseShapeOptions } from '../base/options.gen.js';
import type { Exchange } from '../kernel/plugin/exchange.js';
import type { Host } from '../kernel/plugin/host.js';
import type { LineWorkers } from '../logql/lines/line-workers.js';
import type { Naming } from '../victoria/names/naming.js';
import { RowReader } from '../victoria/names/row-reader.js';
import type { Answer } from '../wire/answer/types.js';
import type { ScanOptions } from './context.js';
import { execute } from './executors.js';
import { createLineWorkers, createRowThreads } from './threads.js';
import { compileDerivedFields, type DeriveFields } from './logs/derived-fields.js';
import { createMemories, type Memories } from './memories.js';
import type { RowThreads } from './metric/threads/row-threads.js';
import type { engineMetrics } from './metrics.js';
import type { Strategy } from './metric/context.js';
import { strategies } from './metric/strategies.js';
import { refinedPlan } from './refined-plan.js';

export type EngineOptions = ScanOptions &
  Pick<ResponseShapeOptions, 'lineThreads' | 'lineTimeout' | 'rowThreads' | 'rowThreadsMinRows'> &
  Partial<Pick<ResponseShapeOptions, 'derivedFields' | 'repeatedRows'>>;
type EngineHost = Pick<
  Host<typeof engineMetrics>,
  'naming' | 'learner' | 'limits' | 'clock' | 'log' | 'meters'
>;

/** Executes plans on the backend and keeps what it learns about it. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #host: EngineHost;
  readonly #memories: Memories;
  readonly #derive: DeriveFields | undefined;
  readonly #workers: LineWorkers;
  readonly #rowThreads: RowThreads;
  readonly #strategies: readonly Strategy[];
  /** One reader for all tenants with the same naming. */
  readonly #readers = new WeakMap<Naming, RowReader>();

  /** @param ways in which leaves of metric queries may be read; tests force them */
  constructor(options: EngineOptions, host: EngineHost, ways: readonly Strategy[] = strategies) {
    this.#options = options;
    this.#host = host;
    this.#memories = createMemories(host);
    this.#workers = createLineWorkers(options, host);
    this.#rowThreads = createRowThreads(options, this.#workers, host);
    this.#strategies = ways;
    this.#derive = compileDerivedFields(options.derivedFields ?? []);
  }

  /** Stops its threads. */
  stop(): Promise<void> {
    this.#rowThreads.close();
    this.#workers.close();
    return Promise.resolve();
  }

  /** Answers an exchange by its plan. */
  async run(exchange: Exchange<'tenant' | 'plan' | 'upstream'>): Promise<Answer> {
    const { request, caller, trace, signal, memory } = exchange;
    const { upstream, tenant } = exchange.slots;
    const { limits, clock, log, meters, learner } = this.#host;
    const naming = this.#host.naming.forTenant(tenant);
    const { plan, labelFields } = await refinedPlan(exchange, naming, learner);
    return execute(plan, request, {
      ...{ upstream, naming, labelFields, reader: this.#readerOf(naming) },
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

  #readerOf(naming: Naming): RowReader {
    let reader = this.#readers.get(naming);
    if (reader === undefined) this.#readers.set(naming, (reader = new RowReader(naming)));
    return reader;
  }
}
