import type { LeafRequest } from '../../../logql/metric/index.js';
import type { LogsqlFilter, LogsqlPipe } from '../../../victoria/logsql/ast.js';
import type { LeafPlan, LeafPush } from '../../plan/types.js';
import type { LeafContext } from '../context.js';
import type { Declined } from '../cost.js';
import type { Buckets, DigestCount, RowGroup } from './counting.js';
import type { Duplicates } from './duplicates.js';
import type { LabelSourceFields, RowGrouping } from './grouping.js';
import type { InspectedLines, LineDigest, LineQuestion } from './line-digests.js';
import type { SelectionProfile } from './profile.js';
import type { StreamListing } from './stream-listing.js';
import type { CertainRows } from './uncertain-rows.js';

/** A profile with the rows whose lines need not be searched for a level. */
export type InspectedProfile = SelectionProfile & Pick<InspectedLines, 'levelless'>;

/** A leaf and all known facts about its rows. */
export interface StatisticsInput {
  readonly plan: LeafPlan & { readonly push: LeafPush };
  readonly request: LeafRequest;
  readonly context: LeafContext;
  readonly buckets: Buckets;
  readonly streamListing: StreamListing;
  readonly sources: LabelSourceFields;
  readonly profile: InspectedProfile;
  readonly grouping: RowGrouping;
  /** The question about lines and its digest; undefined when only their level matters. */
  readonly lines: { readonly question: LineQuestion; readonly digest: LineDigest } | undefined;
  /** The digest that finds the level of a line; undefined when no level is needed. */
  readonly levels: LineDigest | Declined | undefined;
  /** True if a label that only stages use may have as many values as rows. */
  readonly hasRowLabels: boolean;
}

/** The counts: groups by columns, and lines by level if only the line decides it. */
export interface Counted {
  readonly groups: readonly RowGroup[];
  /** The counted rows of groups that no line represents. */
  readonly unrepresented?:
    { readonly filter: LogsqlFilter; readonly pipes: readonly LogsqlPipe[] } | undefined;
  /** The count of lines in the undecided groups; `rows` means that they must be read. */
  readonly others: DigestCount | 'none' | 'rows';
  /** Groups of rows without a line, counted by rebuilt lines. */
  readonly rebuilt?: readonly RowGroup[];
  /** Matches rows without a line that were not counted; undefined if there are none. */
  readonly unread: LogsqlFilter | undefined;
  /** The rows that were counted, or are to be read. */
  readonly rows: CertainRows;
}

/** Corrections to add to or subtract from the counts. */
export interface Remainder {
  /** Rows that were counted twice. */
  readonly duplicates: Duplicates;
  /** The profile of the rows, among them those that may have been counted by another level than theirs. */
  readonly profile: SelectionProfile;
  /** Number of rows of the selection. */
  readonly selectedRows: number;
}
