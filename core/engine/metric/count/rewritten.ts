import type { TimeRange } from '../../../base/time/range.js';
import type { LogsqlFilter } from '../../../victoria/logsql/ast.js';
import { and, or, regexp } from '../../../victoria/logsql/build.js';
import type { Upstream } from '../../../victoria/upstream/types.js';
import { countRows } from '../../rows/count-rows.js';
import type { Group } from './grouping.js';

/** Whether groups by these fields may hold values such as 1_000, which the backend groups as 1000. */
export async function areRewritten(
  groups: readonly Group[],
  fields: readonly string[],
  {
    upstream,
    selection,
    range,
  }: { readonly upstream: Upstream; readonly selection: LogsqlFilter; readonly range: TimeRange },
): Promise<boolean> {
  const mayBe = groups.some(({ get }) => fields.some((name) => /^[0-9]{2,}$/.test(get(name) ?? '')));
  if (!mayBe) return false;
  return (await countRows(upstream, and(selection, rewrittenRows(fields)), range)) > 0;
}

/** Matches rows with such values. */
export function rewrittenRows(fields: readonly string[]): LogsqlFilter {
  return or(...fields.map((name) => regexp(name, '^[0-9]+_[0-9_]*$')));
}
