import type { Stage } from '../../logql/ast.js';

/** The count of a leaf's samples that the backend makes. */
export interface LeafCount {
  readonly measure: 'count' | 'bytes' | 'presence';
  /** Labels that the groups must tell. */
  readonly names: ReadonlySet<string> | 'all';
  /** Names that only stages use: their values may be as many as rows. */
  readonly stageNames: ReadonlySet<string>;
  /** Stages that run on groups instead of rows. */
  readonly stages: readonly Stage[];
  /** Labels that `| json` may take from lines; undefined where no stage reads them. */
  readonly fromJson?: readonly string[];
  /** True when a line that is not JSON counts like one that is. */
  readonly dropsErrors?: boolean;
}

/** A leaf whose samples the backend can count. */
export interface LeafPush extends LeafCount {
  /** True when lines are looked at where groups do not tell enough; otherwise groups tell everything. */
  readonly looksAtLines: boolean;
}
