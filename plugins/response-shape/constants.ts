import type { QueryRangeRequest, QueryRequest } from '../../core/api/request.js';
import type { AnswerStats, Point } from '../../core/answer/types.js';
import { LabelSet } from '../../core/labels/label-set.js';
import { evaluateConstant } from '../../core/plan/constants.js';
import type { ConstantPlan } from '../../core/plan/types.js';
import type { Answer } from '../../core/plugin/index.js';
import type { Clock } from '../../core/plugin/host.js';

const nsPerMs = 1_000_000n;

/** Answers an expression that reads no logs: a scalar or vector at an instant, a matrix over a range. */
export function answerConstant(
  plan: ConstantPlan,
  request: QueryRangeRequest | QueryRequest,
  clock: Clock,
): Answer {
  const startedAt = clock.monotonicMs();
  const constant = evaluateConstant(plan.expr);
  const common = (): { readonly stats: AnswerStats; readonly warnings: readonly string[] } => ({
    stats: { ...noWork, execTimeMs: clock.monotonicMs() - startedAt },
    warnings: [],
  });
  if (request.op === 'query_range') {
    const { value } = constant;
    const series =
      value === undefined ? [] : [{ labels: LabelSet.empty, points: pointsOnGrid(request, value) }];
    return { kind: 'matrix', series, ...common() };
  }
  const timestampMs = Number(request.timeNs / nsPerMs);
  if (constant.kind === 'scalar')
    return { kind: 'scalar', point: { timestampMs, value: constant.value }, ...common() };
  const samples =
    constant.value === undefined
      ? []
      : [{ labels: LabelSet.empty, point: { timestampMs, value: constant.value } }];
  return { kind: 'vector', samples, ...common() };
}

/** One point per step, on multiples of the step from before the start to after the end, as the reference evaluates ranges. */
function pointsOnGrid({ range, stepNs }: QueryRangeRequest, value: number): readonly Point[] {
  const first = floorDivide(range.startNs, stepNs);
  const last = -floorDivide(-range.endNs, stepNs);
  const points: Point[] = [];
  for (let index = first; index <= last; index += 1n) {
    points.push({ timestampMs: Number((index * stepNs) / nsPerMs), value });
  }
  return points;
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

const noWork: AnswerStats = {
  linesProcessed: 0,
  bytesProcessed: 0,
  entriesReturned: 0,
  postFilterLines: 0,
  structuredMetadataBytes: 0,
  execTimeMs: 0,
  splits: 1,
};
