import { ApiError } from '../../base/errors/api-error.js';
import type { TimeRange } from '../../base/time/range.js';
import { countRows } from '../../engine/rows/count-by-time.js';
import { planRequest } from '../../engine/plan/plan.js';
import type { Plan } from '../../engine/plan/types.js';
import { parsedBody } from '../../comparison/answers.js';
import { asArray, asObject } from '../../comparison/json.js';
import type { Pipeline } from '../../kernel/pipeline/index.js';
import { defineStage, type StagePlugin } from '../../kernel/plugin/contract.js';
import type { Exchange } from '../../kernel/plugin/exchange.js';
import type { Host } from '../../kernel/plugin/host.js';
import { leavesOf } from '../../logql/metric/index.js';
import { printFilter } from '../../victoria/logsql/print.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import { fields, limit, query, selectionOf } from '../../victoria/logsql/build.js';
import type { NameLearner } from '../../victoria/names/name-learner.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import type { Io } from '../../program/io.js';
import type { RunningProxy } from '../../program/start-proxy.js';
import { answerSummary, ask, lastStage, startStages } from '../explain-run.js';
import { siteChain } from '../site-stages.js';
import type { FilledQuery } from '../queries/filled-queries.js';
import type { FoundQuery } from '../queries/found-query.js';
import { RateTurns } from '../queries/pace.js';
import type { Span } from '../queries/variables.js';
import type { SelectedRows } from './audited.js';

export interface CountLimits {
  /** Maximum number of selections to count per second. */
  readonly rate: number;
  /** Maximum number of selections to count. */
  readonly maxCounts: number;
}

/** The counts of the parts of a query in order, an error that refuses it, or the reason why there are no counts. */
export type CountedReads =
  | { readonly kind: 'counted'; readonly reads: readonly SelectedRows[] }
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** Number of lines of a selection whose length is looked at. */
const sampledLines = 100;
/** Number of failures in a row after which the backend is no longer asked. */
const maxFailures = 3;

/** Thrown by the last stage, because a query is planned and not answered. */
const planned = { status: 400, when: 'a query is audited', text: 'audited' } as const;

/**
 * Lets the backend count the rows that queries select. Queries go through the stages of a pipeline up to the backend, with their tenant,
 * names and limits, and are not read: only counts are asked for.
 */
export class BackendCounts {
  readonly #proxy: RunningProxy;
  readonly #counter: SelectionCounter;
  #failures = 0;

  private constructor(proxy: RunningProxy, counter: SelectionCounter) {
    this.#proxy = proxy;
    this.#counter = counter;
  }

  /** @param learner stores the names that are learned, which the plans depend on */
  static async start(
    pipeline: Pipeline,
    learner: NameLearner,
    limits: CountLimits,
    io: Pick<Io, 'err'>,
  ): Promise<BackendCounts> {
    const counter = new SelectionCounter(limits);
    const chain = [
      ...siteChain(pipeline.stages),
      lastStage(pipeline, countingStage(counter)),
      ...pipeline.stages.filter(({ plugin }) => plugin.name === 'response-shape'),
    ];
    return new BackendCounts(await startStages(pipeline, chain, io, { learner }), counter);
  }

  close(): Promise<void> {
    return this.#proxy.close();
  }

  /** The values of a label, among the streams of a selector; none if the backend does not answer. */
  async labelValues(
    label: string,
    selector: string | undefined,
    span: Span,
    { orgId }: Pick<FoundQuery, 'orgId'>,
  ): Promise<readonly string[]> {
    const params = new URLSearchParams({ start: `${span.startMs}000000`, end: `${span.endMs}000000` });
    if (selector !== undefined) params.set('query', selector);
    const path = `/loki/api/v1/label/${encodeURIComponent(label)}/values?${params.toString()}`;
    const headers = orgId === undefined ? {} : { 'X-Scope-OrgID': orgId };
    const answer = await fetch(this.#proxy.urls.main + path, { headers });
    const body = parsedBody(await answer.text());
    return asArray(asObject(body)['data']).filter((value) => typeof value === 'string');
  }

  async of({ text, span, query: { orgId } }: FilledQuery): Promise<CountedReads> {
    if (this.#failures === maxFailures)
      return { kind: 'unknown', reason: `the backend failed ${maxFailures} times in a row` };
    const { startMs, endMs, stepMs } = span;
    const params = new Map([
      ['start', `${startMs}000000`],
      ['end', `${endMs}000000`],
      ['step', `${stepMs / 1000}`],
      ...(orgId === undefined ? [] : [['org-id', orgId] as const]),
    ]);
    const { status, body } = await ask(this.#proxy.urls.main, text, params);
    const result = this.#counter.take();
    if (result !== undefined) {
      this.#failures = 0;
      return result;
    }
    const error = answerSummary(body, status);
    if (status < 500) return { kind: 'refused', error };
    this.#failures += 1;
    return { kind: 'unknown', reason: error };
  }
}

/** A stage before response-shape that counts the rows which the plan of a query selects, and passes on nothing but listings. */
function countingStage(counter: SelectionCounter): StagePlugin {
  const stage = defineStage({
    name: 'audit',
    summary: 'Counts the rows that a query selects.',
    needs: ['tenant', 'plan', 'upstream'],
    gives: [],
    rest: 'maybe',
    create: (_options, host) => ({
      handle: async (exchange, rest) => {
        if (exchange.request.op !== 'query_range') return rest(exchange);
        await counter.count(exchange, host);
        throw new ApiError(planned, planned.text);
      },
    }),
  });
  // The kernel checks at the start that earlier stages fill the slots that it needs.
  return stage as StagePlugin;
}

interface Selection {
  readonly filter: LogsqlFilter;
  readonly range: TimeRange;
}

/** Counts selections, each once. */
class SelectionCounter {
  readonly #limits: CountLimits;
  readonly #turns: RateTurns;
  readonly #known = new Map<string, SelectedRows>();
  #result: CountedReads | undefined;

  constructor(limits: CountLimits) {
    this.#limits = limits;
    this.#turns = new RateTurns(limits.rate);
  }

  /** The result of the latest request, if it came that far. */
  take(): CountedReads | undefined {
    const result = this.#result;
    this.#result = undefined;
    return result;
  }

  async count(
    exchange: Exchange<'tenant' | 'plan' | 'upstream'>,
    { naming, learner }: Pick<Host, 'naming' | 'learner'>,
  ): Promise<void> {
    const { request, slots } = exchange;
    if (request.op !== 'query_range') return;
    const { plan } = await planRequest(exchange, naming.forTenant(slots.tenant), learner);
    const reads: SelectedRows[] = [];
    for (const selection of selectionsOf(plan, request.range)) {
      const counted = await this.#counted(selection, slots.tenant.id, slots.upstream);
      if (counted === undefined) {
        const reason = `more than ${this.#limits.maxCounts} selections (-max-counts)`;
        this.#result = { kind: 'unknown', reason };
        return;
      }
      reads.push(counted);
    }
    this.#result = { kind: 'counted', reads };
  }

  async #counted(
    { filter, range }: Selection,
    tenant: string,
    upstream: Upstream,
  ): Promise<SelectedRows | undefined> {
    const key = JSON.stringify([tenant, printFilter(filter), `${range.startNs}`, `${range.endNs}`]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size === this.#limits.maxCounts) return undefined;
    await this.#turns.next();
    const rows = await countRows(upstream, filter, range);
    const { bytes, hasLines } = rows === 0 ? noLines : await sampled(upstream, filter, range);
    const counted = { rows, bytes: Math.round(rows * bytes), hasLines };
    this.#known.set(key, counted);
    return counted;
  }
}

const noLines = { bytes: 0, hasLines: false };

/** The average length of some lines. */
async function sampled(
  upstream: Upstream,
  filter: LogsqlFilter,
  range: TimeRange,
): Promise<{ readonly bytes: number; readonly hasLines: boolean }> {
  let [count, bytes] = [0, 0];
  const asked = { query: query(filter, [fields('_msg'), limit(sampledLines)]), range };
  for await (const batch of upstream.rows(asked))
    for (const { _msg: line = '' } of batch) {
      count += 1;
      bytes += Buffer.byteLength(line);
    }
  return { bytes: bytes / Math.max(1, count), hasLines: bytes > 0 };
}

/** The rows of the streams of each part of a query, over the time that it needs. */
function selectionsOf(plan: Plan, { startNs, endNs }: TimeRange): readonly Selection[] {
  if (plan.kind === 'logs') return [{ filter: selectionOf(plan.filter), range: { startNs, endNs } }];
  if (plan.kind !== 'metric') return [];
  return leavesOf(plan.tree).map(({ selection, range: { range } }) => {
    const { intervalNanoseconds, offsetNanoseconds } = range;
    return {
      filter: selection,
      range: {
        startNs: startNs - offsetNanoseconds - intervalNanoseconds,
        endNs: endNs - offsetNanoseconds + 1n,
      },
    };
  });
}
