import { apiError } from '../../base/errors/table.js';
import type { LabelSet } from '../../base/label-set.js';
import { visit } from '../walk.js';
import type { MetricExpr } from '../ast.js';
import type { BinaryLimits, SeriesRow } from './work.js';

/**
 * Counts the cost of a query's binary operations and refuses the query beyond the limits
 * (docs/protocol/errors-and-limits.md#binary-operations).
 */
export class BinaryBudget {
  readonly #limits: BinaryLimits;
  #operandBytes = 0;
  #operandRows = 0;
  #samples = 0;
  #labelBytes = 0;

  constructor(limits: BinaryLimits) {
    this.#limits = limits;
  }

  /**
   * Checks an expression before any of it is evaluated.
   * @throws ApiError `binaryTooMany` when it nests too deeply or has too many operands
   */
  check(expr: MetricExpr): void {
    let operands = 0;
    visit(expr, (node) => {
      if (node.kind === 'binary') operands += 2;
    });
    const { maxDepth, maxEvaluations } = this.#limits;
    if (operands > maxEvaluations || depthOf(expr) > maxDepth) throw apiError('binaryTooMany', {});
  }

  /** @throws ApiError `binaryOperands` */
  operand({ values, present }: SeriesRow): void {
    this.#operandBytes += values.byteLength + present.byteLength;
    this.#operandRows += 1;
    const { maxOperandBytes, maxOperandRows } = this.#limits;
    if (this.#operandBytes > maxOperandBytes || this.#operandRows > maxOperandRows) {
      throw apiError('binaryOperands', {});
    }
  }

  /** @throws ApiError `binarySamples` */
  samples(count: number): void {
    this.#samples += count;
    if (this.#samples > this.#limits.maxSamples) throw apiError('binarySamples', {});
  }

  /** @throws ApiError `binaryLabels` */
  labels({ labels }: LabelSet): void {
    for (const [name, value] of labels) this.#labelBytes += name.length + value.length;
    if (this.#labelBytes > this.#limits.maxLabelBytes) throw apiError('binaryLabels', {});
  }
}

/** The nesting depth of binary operations. */
function depthOf(expr: MetricExpr): number {
  let deepest = 0;
  const pending: { readonly node: MetricExpr; readonly depth: number }[] = [{ node: expr, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next;
    deepest = Math.max(deepest, depth);
    if (node.kind === 'binary') {
      pending.push({ node: node.left, depth: depth + 1 }, { node: node.right, depth: depth + 1 });
    } else if (node.kind === 'vector-aggregation' || node.kind === 'label-replace') {
      pending.push({ node: node.expr, depth });
    }
  }
  return deepest;
}
