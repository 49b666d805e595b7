import type { NamesAnswer } from '../../wire/answer/types.js';
import type { SeriesRequest } from '../../wire/api/request.js';
import type { EngineContext } from '../context.js';
import type { StoredListPlan } from '../plan/types.js';

/** A listing as the backend has it. */
export async function answerStoredList(
  { listing }: StoredListPlan,
  { range }: SeriesRequest,
  { upstream }: EngineContext,
): Promise<NamesAnswer> {
  const listed = await upstream.list({ ...listing, range, hits: 'any' });
  return { kind: 'names', values: listed.map(({ value }) => value), warnings: [] };
}
