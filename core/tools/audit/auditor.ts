import { ApiError } from '../../base/errors/api-error.js';
import { doAll } from '../../base/pace/steps.js';
import { parseDuration } from '../../base/time/option-duration.js';
import { adviceOn } from '../../engine/advice/rules.js';
import type { PlanSettings } from '../../engine/plan/checked-request.js';
import { explainQuery, type QueryExplanation } from '../../engine/plan/explain/explain.js';
import { planSettingsOf } from '../../engine/plan/explain/of-pipeline.js';
import { firstStrategy, type KnownOfLeaf } from '../../engine/plan/explain/strategies.js';
import { readRequest } from '../../engine/plan/plan.js';
import { asObject } from '../../comparison/json.js';
import type { Pipeline } from '../../kernel/pipeline/index.js';
import { LogqlError } from '../../logql/index.js';
import { gridColumns, gridOf, type Columns } from '../../logql/metric/index.js';
import { checkRequestLimits } from '../../operations/index.js';
import { Naming } from '../../victoria/names/naming.js';
import type { NameLearner } from '../../victoria/names/name-learner.js';
import { withOtlpConfig } from '../../victoria/names/otlp-config.js';
import { Query, type QueryRangeRequest, type QueryRequest } from '../../wire/api/request.js';
import { createLimits, type Limits } from '../../wire/limits/limits.js';
import type { FilledQuery } from '../queries/filled-queries.js';
import type { AnsweredQuery, AuditedRead, SelectedRows, Verdicts } from './audited.js';
import type { BackendCounts, CountedReads } from './backend-counts.js';

const nsPerMs = 1_000_000n;
const defaultLimit = 100;

/** Tells what a pipeline will do with queries, without reading their rows. */
export class Auditor {
  readonly #pipeline: Pipeline;
  readonly #naming: Naming;
  readonly #limits: Limits;
  readonly #settings: PlanSettings;
  readonly #learner: NameLearner;
  readonly #counts: BackendCounts | undefined;

  /** @param counts the backend's counts; undefined to audit without a backend */
  constructor(pipeline: Pipeline, learner: NameLearner, counts: BackendCounts | undefined) {
    this.#pipeline = pipeline;
    this.#naming = new Naming(withOtlpConfig(pipeline.names, pipeline.limits));
    this.#limits = createLimits(pipeline.limits);
    this.#settings = planSettingsOf(pipeline);
    this.#learner = learner;
    this.#counts = counts;
  }

  async audit(filled: FilledQuery): Promise<Verdicts> {
    const query = new Query(filled.text, this.#naming.dottedNames);
    try {
      await this.#check(query, filled);
    } catch (error) {
      if (error instanceof LogqlError) return { kind: 'unparsed', error: error.message };
      if (error instanceof ApiError) return { kind: 'refused', error: error.message };
      throw error;
    }
    const counted = await this.#counts?.of(filled);
    if (counted?.kind === 'refused') return { kind: 'refused', error: counted.error };
    return this.#answered(query, filled, counted);
  }

  /** Makes the checks of the guard and of translate. */
  async #check(query: Query, filled: FilledQuery): Promise<void> {
    const request = requestFor(query, filled);
    // Loki reports errors of the text first.
    doAll(readRequest(request, this.#naming, this.#settings));
    if (!this.#pipeline.stages.some(({ plugin }) => plugin.name === 'guard')) return;
    const { orgId } = filled.query;
    const limits = this.#limits.of(orgId === undefined ? [] : [orgId]);
    await checkRequestLimits(request, limits, this.#limits.process, new AbortController().signal);
  }

  #answered(query: Query, filled: FilledQuery, counted: CountedReads | undefined): AnsweredQuery {
    const selected = counted?.kind === 'counted' ? counted.reads : [];
    const columns = this.#columnsOf(filled);
    const explain = (each: Query): QueryExplanation =>
      explainQuery(each, this.#naming, {
        ...this.#settings,
        recall: (filter) => this.#learner.recall(filter, filled.query.orgId),
        knownOf: ({ index }) => knownOf(selected[index], columns),
      });
    const explanation = explain(query);
    const expr = query.ast;
    const { kind } = filled.query;
    const { startMs, endMs, stepMs } = filled.span;
    const advice = adviceOn(expr, {
      explanation,
      explain: (other) => explain(query.withAst(other)),
      times: { kind, rangeMs: endMs - startMs, stepMs },
    });
    const { cost, costText } = explanation;
    const reads = explanation.reads.map(({ logql, strategies = [] }, index): AuditedRead => {
      const candidate = firstStrategy(strategies);
      const others = strategies.filter((one) => one !== candidate);
      const rows = selected[index];
      return { logql, candidate, others, ...(rows === undefined ? {} : { selected: rows }) };
    });
    const uncounted = counted?.kind === 'unknown' ? { uncounted: counted.reason } : {};
    return { kind: 'answered', expr, cost, costText, reads, advice, ...uncounted };
  }

  /** The times of a range query, or of one of the windows into which it is split. */
  #columnsOf({ query, span }: FilledQuery): Columns {
    if (query.kind === 'instant')
      return gridColumns({ kind: 'instant', timeNs: BigInt(Math.round(span.endMs)) * nsPerMs });
    const { startMs, endMs, stepMs } = span;
    const windowMs = Math.max(this.#windowMs() ?? Infinity, stepMs);
    // A range that is shorter than two windows is read as a whole.
    const lengthMs = endMs - startMs < 2 * windowMs ? endMs - startMs : windowMs;
    const range = { startNs: nanosecondsOf(endMs - lengthMs), endNs: nanosecondsOf(endMs) };
    return gridColumns(gridOf(range, nanosecondsOf(stepMs)));
  }

  #windowMs(): number | undefined {
    const stage = this.#pipeline.stages.find(({ plugin }) => plugin.name === 'window-split');
    const { enabled, splitInterval } = asObject(stage?.options);
    if (enabled !== true) return undefined;
    return typeof splitInterval === 'number' ? splitInterval : parseDuration(String(splitInterval));
  }
}

function knownOf(selected: SelectedRows | undefined, columns: Columns): KnownOfLeaf {
  // Rows that came through Loki's push protocol have lines.
  if (selected === undefined) return { columns, rows: { hasLines: true } };
  const { rows, bytes, hasLines } = selected;
  return {
    columns,
    rows: { hasLines, rows, newRows: rows, lineBytes: rows === 0 ? undefined : bytes / rows },
  };
}

function requestFor(query: Query, filled: FilledQuery): QueryRangeRequest | QueryRequest {
  const { kind, limit = defaultLimit } = filled.query;
  const { startMs, endMs, stepMs } = filled.span;
  const shared = { query, limit, direction: 'backward' } as const;
  if (kind === 'instant') return { op: 'query', ...shared, timeNs: nanosecondsOf(endMs) };
  const range = { startNs: nanosecondsOf(startMs), endNs: nanosecondsOf(endMs) };
  return { op: 'query_range', ...shared, range, stepNs: nanosecondsOf(stepMs), intervalNs: 0n };
}

function nanosecondsOf(ms: number): bigint {
  return BigInt(Math.round(ms)) * nsPerMs;
}
