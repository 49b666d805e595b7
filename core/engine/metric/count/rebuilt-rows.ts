import { labelName } from '../../../logql/pipeline/label-name.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, fields, limit, not, present, query } from '../../../victoria/logsql/build.js';
import { printFilter } from '../../../victoria/logsql/print.js';
import { rebuildLine } from '../../../victoria/names/missing-line.js';
import type { Naming } from '../../../victoria/names/naming.js';
import { missingLineRows } from '../../plan/missing-lines.js';
import type { LeafPlan } from '../../plan/types.js';
import type { LeafContext } from '../context.js';
import { decline, type Declined } from '../declined.js';
import { countRows } from '../../rows/count-rows.js';
import type { RowRequest } from '../rows.js';
import type { ValueShaper } from './json.js';
import type { SelectionProfile } from './profile.js';
import type { StreamListing } from './stream-listing.js';

/** The rows of a leaf without a stored line, to be read with all their fields. */
export function rowsWithoutLine(
  { logs, selection }: Pick<LeafPlan, 'logs' | 'selection'>,
  range: TimeRange,
  { missing }: Pick<SelectionProfile, 'missing'>,
  naming: Naming,
): RowRequest {
  const rows = missingLineRows(naming);
  return {
    ...{ filter: and(logs.filter, rows), selection: and(selection, rows), range },
    ...{ columns: undefined, selectedRows: missing },
  };
}

/** Declines where a row of a selection has a stored line: only rebuilt lines show what their fields show. */
export async function declineLines(
  selection: LogsqlFilter,
  range: TimeRange,
  context: LeafContext,
): Promise<Declined | undefined> {
  const known = knownLines(selection, context);
  if (known !== undefined) return known;
  const { upstream, naming } = context;
  const hasLine = and(selection, not(missingLineRows(naming)));
  for await (const batch of upstream.rows({ query: query(hasLine, [fields('_time'), limit(1)]), range }))
    if (batch.length > 0) return rememberLines(selection, context);
  return undefined;
}

/** Declines where a selection is remembered to have stored lines. */
export function knownLines(
  selection: LogsqlFilter,
  { declines }: Pick<LeafContext, 'declines'>,
): Declined | undefined {
  return declines.of('lines', printFilter(selection));
}

/** Declines, and remembers that a selection has stored lines. */
export function rememberLines(
  selection: LogsqlFilter,
  { declines }: Pick<LeafContext, 'declines'>,
): Declined {
  return declines.remember(decline('has-lines'), 'lines', printFilter(selection));
}

/** Of more fields it is not asked whether a row has none of them. */
const maxFields = 300;

/** Whether rows may have no field of their own: their line is empty, and no JSON. */
export async function mayHaveEmptyLines(
  filter: LogsqlFilter,
  listing: StreamListing,
  range: TimeRange,
  { upstream }: Pick<LeafContext, 'upstream'>,
): Promise<boolean> {
  const own = listing.fields.filter((field) => !isOfStream(field, listing));
  if (own.length > maxFields) return true;
  return (await countRows(upstream, and(filter, ...own.map((field) => not(present(field)))), range)) > 0;
}

function isOfStream(field: string, { streams }: StreamListing): boolean {
  return [...streams.values()].some(({ fields }) => fields.has(field));
}

/** The fields of which `| json` makes one of these labels in a rebuilt line. */
export function parsedFields(names: ReadonlySet<string>, { fields }: StreamListing): readonly string[] {
  return fields.filter((field) => names.has(labelName(field)));
}

/** How to gather the values of a field in rows without a line. */
export interface FieldShaper {
  readonly shaper: ValueShaper;
  /** Stream fields that are in no line, as long as every row has its stream's value in them. */
  readonly streamFields: readonly string[];
}

/** Gathers the values of a field by those of others, in rows without a line; undefined where not one field makes the label. */
export function fieldShaper(
  names: ReadonlySet<string>,
  name: string,
  listing: StreamListing,
): FieldShaper | undefined {
  const [valueColumn, another] = parsedFields(new Set([name]), listing);
  if (valueColumn === undefined || another !== undefined || isOfStream(valueColumn, listing))
    return undefined;
  const others = parsedFields(names, listing).filter((field) => field !== valueColumn);
  const streamFields = others.filter((field) => isOfStream(field, listing));
  const columns = others.filter((field) => !streamFields.includes(field));
  const lineOf: ValueShaper['lineOf'] = (get, value) => {
    const found = columns.map((field) => [field, get(field) ?? ''] as const);
    return rebuildLine([...found, [valueColumn, value] as const].filter(([, text]) => text !== ''));
  };
  const shaper: ValueShaper = {
    pipes: [],
    columns,
    valueColumn,
    representativeOf: (get) => ({ line: lineOf(get, '') }),
    undecidedLine: () => '',
    lineOf,
  };
  return { shaper, streamFields };
}
