import type {
  BinaryExpr,
  LabelReplaceExpr,
  LiteralExpr,
  MetricExpr,
  VectorAggregation,
  VectorExpr,
} from '../ast.js';
import type { Steps } from '../../base/pace/steps.js';

/** A metric expression in which the parts that read logs are leaves; the type of leaves depends on the stage of planning. */
export type MetricTree<Planned> =
  | { readonly kind: 'leaf'; readonly leaf: Planned }
  | {
      readonly kind: 'aggregate';
      readonly node: VectorAggregation;
      readonly of: MetricTree<Planned>;
      /** True for an average that Loki splits into a sum and a count. */
      readonly isDivided?: boolean;
    }
  | { readonly kind: 'label-replace'; readonly node: LabelReplaceExpr; readonly of: MetricTree<Planned> }
  | {
      readonly kind: 'binary';
      readonly node: BinaryExpr;
      readonly left: MetricTree<Planned>;
      readonly right: MetricTree<Planned>;
    }
  /** The series of all parts, concatenated. */
  | { readonly kind: 'concat'; readonly parts: readonly MetricTree<Planned>[] }
  | VectorExpr
  | LiteralExpr;

/** A metric expression and its tree. */
export interface PlannedMetric<Planned> {
  readonly expr: MetricExpr;
  readonly tree: MetricTree<Planned>;
}

/** The leaves in evaluation order. */
export function leavesOf<Planned>(tree: MetricTree<Planned>): readonly Planned[] {
  switch (tree.kind) {
    case 'leaf':
      return [tree.leaf];
    case 'aggregate':
    case 'label-replace':
      return leavesOf(tree.of);
    case 'binary':
      return [...leavesOf(tree.left), ...leavesOf(tree.right)];
    case 'concat':
      return tree.parts.flatMap(leavesOf);
    case 'vector':
    case 'literal':
      return [];
  }
}

/** Plans the leaves further, one after the other in evaluation order. */
export function* mapLeaves<Before, After>(
  tree: MetricTree<Before>,
  plan: (leaf: Before) => Steps<After>,
): Steps<MetricTree<After>> {
  switch (tree.kind) {
    case 'leaf':
      return { kind: 'leaf', leaf: yield* plan(tree.leaf) };
    case 'aggregate':
    case 'label-replace':
      return { ...tree, of: yield* mapLeaves(tree.of, plan) };
    case 'binary': {
      const left = yield* mapLeaves(tree.left, plan);
      return { ...tree, left, right: yield* mapLeaves(tree.right, plan) };
    }
    case 'concat': {
      const parts: MetricTree<After>[] = [];
      for (const part of tree.parts) parts.push(yield* mapLeaves(part, plan));
      return { kind: 'concat', parts };
    }
    case 'vector':
    case 'literal':
      return tree;
  }
}
