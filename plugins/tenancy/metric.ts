/**
 * Metric queries over several tenants. The expression is evaluated once, here; each part that reads logs is sent to every tenant as a
 * separate query. As in Loki, each tenant's series get the tenant's label before they are aggregated.
 */
import { mergeStats } from '../../core/wire/answer/merge/shared.js';
import type { Answer, AnswerStats } from '../../core/wire/answer/types.js';
import type { Tenant } from '../../core/base/caller.js';
import type { QueryRangeRequest, QueryRequest } from '../../core/wire/api/request.js';
import { type LabelSet, withoutEmpty } from '../../core/base/label-set.js';
import { rangeFunctions } from '../../core/logql/functions/range/index.js';
import type { MetricExpr } from '../../core/logql/index.js';
import {
  type Columns,
  defaultMetricLimits,
  evaluateMetric,
  gridFor,
  type Leaf,
  type LeafRequest,
  type MetricLimits,
  type SeriesRow,
  type SeriesTable,
} from '../../core/logql/metric/index.js';
import { eachAtPace, Pacer } from '../../core/base/pace/steps.js';
import type { Exchange, Rest } from '../../core/plugin/index.js';
import { ofTenants } from './fan-out.js';
import { takeTenantMatchers } from '../../core/operations/rules/tenant-matchers.js';
import { leafExpr, rowsOfAnswer } from '../../core/operations/metric-parts.js';
import { tenantLabel } from '../../core/operations/rules/tenant-names.js';
import { labelSet } from './tenant-label.js';

type MetricRequest = QueryRangeRequest | QueryRequest;

/**
 * Answers a metric query over the logs of all these tenants together.
 * @throws ApiError of the first failing tenant, or of the evaluation
 */
export async function answerTogether(
  exchange: Exchange,
  request: MetricRequest,
  expr: MetricExpr,
  rest: Rest<'tenant'>,
  tenants: readonly Tenant[],
  bounds: Pick<MetricLimits, 'maxSeries' | 'binary' | 'approxTopk'>,
): Promise<Answer> {
  const costs: AnswerStats[] = [];
  const warnings = new Set<string>();
  const ask = async (tenant: Tenant, part: MetricRequest, signal: AbortSignal): Promise<Answer> => {
    const answer = await rest(
      exchange.derive<'tenant'>({ request: part, slots: { tenant }, signal, isFinal: false }),
    );
    if ('stats' in answer) costs.push(answer.stats);
    if ('warnings' in answer) for (const each of answer.warnings) warnings.add(each);
    return answer;
  };
  const source = { series: (leaf: LeafRequest) => seriesOf(leaf, request, tenants, ask) };
  const grid = gridFor(request);
  const { memory } = exchange;
  const limits = { ...defaultMetricLimits, ...bounds, memory, isPartial: exchange.caller.isDrilldown };
  const result = await evaluateMetric(expr, grid, source, limits, exchange.signal);
  return {
    ...result,
    stats: mergeStats(costs),
    warnings: [...result.warnings, ...warnings],
  };
}

async function seriesOf(
  { leaf, columns, signal }: LeafRequest,
  request: MetricRequest,
  tenants: readonly Tenant[],
  ask: (tenant: Tenant, part: MetricRequest, signal: AbortSignal) => Promise<Answer>,
): Promise<SeriesTable> {
  const { selector } = leaf.range.range.query;
  const filter = takeTenantMatchers(selector.matchers);
  const chosen = filter === undefined ? tenants : tenants.filter(({ id }) => filter.accepts(id));
  // As in Loki, the matchers stay unchanged: a label that a stream does not have equals the empty text.
  const query = request.query.withAst(leafExpr(leaf, tenantLabel));
  const part: MetricRequest = { ...request, query, isPart: true };
  const tables = new Map<string, readonly SeriesRow[]>();
  await ofTenants(
    chosen,
    async (tenant, ended) => {
      tables.set(tenant.id, await rowsOfAnswer(await ask(tenant, part, ended), columns, new Pacer(ended)));
    },
    signal,
  );
  // In header order, so that floating-point sums are reproducible.
  const inOrder = chosen.map(({ id }) => ({ id, rows: tables.get(id) ?? [] }));
  const labelsOfNothing = rangeFunctions[leaf.range.op].ofNothing?.(leaf.range);
  if (labelsOfNothing !== undefined)
    return {
      rows: absentInAll(
        labelsOfNothing,
        inOrder.map(({ rows }) => rows),
        columns,
      ),
    };
  const pacer = new Pacer(signal);
  return { rows: await (isAcrossTenants(leaf) ? rowsOfAll(leaf, inOrder, pacer) : labelled(inOrder, pacer)) };
}

async function labelled(tables: readonly TenantRows[], pacer: Pacer): Promise<readonly SeriesRow[]> {
  const all: SeriesRow[] = [];
  for (const { id, rows } of tables) await eachAtPace(rows, pacer, (row) => all.push(labelRow(row, id)));
  return all;
}

/** The series of all tenants; series that cannot be merged stay separate by tenant. */
async function rowsOfAll(
  leaf: Leaf,
  tables: readonly TenantRows[],
  pacer: Pacer,
): Promise<readonly SeriesRow[]> {
  const byLabels = new Map<string, [TenantRow, ...TenantRow[]]>();
  for (const { id, rows } of tables)
    await eachAtPace(rows, pacer, (row) => {
      const same = byLabels.get(row.labels.key);
      if (same === undefined) byLabels.set(row.labels.key, [{ id, row }]);
      else same.push({ id, row });
    });
  const all: SeriesRow[] = [];
  await eachAtPace(byLabels.values(), pacer, ([first, ...others]) => {
    const merged = mergeAcrossTenants(leaf, [first.row, ...others.map(({ row }) => row)]);
    if (merged !== undefined) all.push(merged);
    else for (const { id, row } of [first, ...others]) all.push(labelRow(row, id));
  });
  return all;
}

interface TenantRow {
  readonly id: string;
  readonly row: SeriesRow;
}

function labelRow(row: SeriesRow, tenantId: string): SeriesRow {
  return { ...row, labels: labelSet(withoutEmpty(row.labels), tenantId) };
}

/** The series of `absent_over_time`: a series is only absent if no tenant has it. */
function absentInAll(
  labels: LabelSet,
  tables: readonly (readonly SeriesRow[])[],
  { count }: Columns,
): readonly SeriesRow[] {
  const present = new Uint8Array(count).fill(1);
  for (const rows of tables) {
    for (let column = 0; column < count; column += 1) {
      if (!rows.some((row) => row.present[column] === 1)) present[column] = 0;
    }
  }
  if (!present.includes(1)) return [];
  return [{ labels, values: new Float64Array(count).fill(1), present }];
}

/** One tenant's series of a range aggregation. */
interface TenantRows {
  readonly id: string;
  readonly rows: readonly SeriesRow[];
}

/**
 * True if a range aggregation groups the lines of all tenants by labels other than the tenant, so that its series belong to no single
 * tenant.
 */
function isAcrossTenants({ range: { op, grouping } }: Leaf): boolean {
  if (grouping === undefined || grouping.without || rangeFunctions[op].join === undefined) return false;
  return !grouping.labels.includes(tenantLabel);
}

/**
 * Merges series with the same labels: the maximum of several tenants is the maximum of all, and a value that only one tenant has is the
 * value of all. Undefined for series that cannot be merged (such as an average of averages).
 */
function mergeAcrossTenants(
  { range: { op } }: Leaf,
  rows: readonly [SeriesRow, ...SeriesRow[]],
): SeriesRow | undefined {
  const { join } = rangeFunctions[op];
  const [first, ...others] = rows;
  const merged = { labels: first.labels, values: first.values.slice(), present: first.present.slice() };
  for (const row of others) {
    for (const [column, isPresent] of row.present.entries()) {
      if (isPresent === 0) continue;
      const value = row.values[column] ?? NaN;
      const isFirst = merged.present[column] === 0;
      const joined = isFirst ? value : join?.combine(merged.values[column] ?? NaN, value);
      if (joined === undefined) return undefined;
      merged.values[column] = joined;
      merged.present[column] = 1;
    }
  }
  return merged;
}
