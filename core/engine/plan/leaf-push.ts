import type { Stage } from '../../logql/ast.js';
import type { ParsedNames } from './columns.js';

/** A count of a leaf's samples by the backend. */
export interface LeafCount {
  readonly measure: 'count' | 'bytes' | 'presence';
  /** Labels that the groups must distinguish. */
  readonly names: ReadonlySet<string> | 'all';
  /** Names that only stages use; they may have as many values as rows. */
  readonly stageNames: ReadonlySet<string>;
  /** Stages that run on groups instead of rows. */
  readonly stages: readonly Stage[];
  /** The labels that a parser may take from lines; undefined if no stage reads them. */
  readonly parsed?: ParsedNames;
  /** True if lines that the parser cannot read count like those that it can. */
  readonly dropsErrors?: boolean;
}

/** A leaf with samples that the backend can count. */
export interface LeafPush extends LeafCount {
  /** True if lines are inspected when groups are not enough; otherwise groups decide everything. */
  readonly looksAtLines: boolean;
}
