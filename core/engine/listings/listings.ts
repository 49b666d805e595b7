import { textOrder } from '../../base/order.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Browse, LabelsRequest, LabelValuesRequest, SeriesRequest } from '../../wire/api/request.js';
import type { LabelSet } from '../../base/label-set.js';
import { and, not, query } from '../../victoria/logsql/build.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { RowReader } from '../../victoria/names/row-reader.js';
import { serviceNameLabel } from '../../victoria/names/service-name.js';
import type { Backend } from '../backend.js';
import type { EngineContext } from '../context.js';
import { joinStreams, LabelFields } from '../plan/columns.js';
import type { LabelValuesPlan, SelectedRows, StoredListPlan } from '../plan/types.js';
import type { NamesAnswer, SeriesAnswer } from '../../wire/answer/types.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import { apiError } from '../../base/errors/table.js';

const silenceNs = 30n * 60n * 1_000_000_000n;

/** The label names of the selected streams, including `service_name` whenever there is a stream. */
export async function listLabelNames(
  { filter }: SelectedRows,
  { range, browse }: LabelsRequest,
  { upstream, reader, naming }: Backend,
): Promise<NamesAnswer> {
  const list = async (within: LogsqlFilter): Promise<readonly string[]> => {
    const question = { listing: 'stream_field_names', query: query(within), range, hits: 'any' } as const;
    return (await upstream.list(question)).map(({ value }) => value);
  };
  const fields = await list(filter);
  const { otlpStreams } = new LabelFields(naming, fields);
  const isShared = (field: string): boolean => naming.labelOf(field, true) !== undefined;
  // Names do not tell which streams have them. Names that are not labels in exported streams are requested for all other streams only.
  const others =
    otlpStreams === undefined || fields.every(isShared) ? fields : await list(and(filter, not(otlpStreams)));
  const names = new Set<string>();
  for (const field of [...fields.filter(isShared), ...others]) {
    const label = naming.labelOf(field);
    if (label !== undefined) names.add(label);
  }
  // A stream without fields is not listed, but still has a service name.
  if (fields.length > 0 || (await streamsOf(filter, range, upstream, reader)).length > 0)
    names.add(serviceNameLabel);
  if (names.size > 0) for (const label of naming.extraLabels) names.add(label);
  return namesAnswer(names, browse);
}

/** The values of a label over the selected streams. */
export async function listLabelValues(
  { name, filter }: LabelValuesPlan,
  { range, browse }: LabelValuesRequest,
  { upstream, reader, naming, labelFields, tenant, limits }: EngineContext,
): Promise<NamesAnswer> {
  const values = new Set<string>();
  if (name === serviceNameLabel) {
    for (const labels of await streamsOf(filter, range, upstream, reader)) values.add(labels.get(name));
  } else {
    const columns = naming.extraLabels.has(name) ? naming.columnsOf(name) : [];
    const ofRows = await storedOf(columns, filter, range, upstream);
    const lists = await Promise.all([
      ...labelFields.sourcesOf(name).map(({ field, streams }) =>
        upstream.list({
          ...{ listing: 'stream_field_values', field, range, hits: 'any' },
          query: query(joinStreams([filter, streams])),
        }),
      ),
      ...ofRows.map((field) =>
        upstream.list({ listing: 'field_values', field, query: query(filter), range, hits: 'any' }),
      ),
    ]);
    for (const { value } of lists.flat()) values.add(value);
  }
  values.delete('');
  enforceSize(values, limits.of([tenant.id]).labelValuesMaxResponseBytes);
  return namesAnswer(values, browse);
}

/** The columns of the rows. If there is a single one, its values are requested directly. */
async function storedOf(
  columns: readonly string[],
  filter: LogsqlFilter,
  range: TimeRange,
  upstream: Upstream,
): Promise<readonly string[]> {
  if (columns.length < 2) return columns;
  const stored = await upstream.list({ listing: 'field_names', query: query(filter), range });
  const names = new Set(stored.map(({ value }) => value));
  return columns.filter((field) => names.has(field));
}

/**
 * The unique label sets of the selected streams. Loki answers from its index of chunks, and a chunk survives half an hour of silence: a
 * stream without entries in a shorter range is listed if it has entries on both sides of it.
 */
export async function listSeries(
  { filter }: SelectedRows,
  { range }: SeriesRequest,
  { upstream, reader }: Backend,
): Promise<SeriesAnswer> {
  const list = (startNs: bigint, endNs: bigint): Promise<readonly LabelSet[]> =>
    streamsOf(filter, { startNs, endNs }, upstream, reader);
  const { startNs, endNs } = range;
  if (endNs - startNs >= silenceNs)
    return { kind: 'series', series: await list(startNs, endNs), warnings: [] };
  const [within, before, after] = await Promise.all([
    list(startNs, endNs),
    list(startNs - silenceNs, startNs),
    list(endNs, endNs + silenceNs),
  ]);
  const keysWithin = new Set(within.map(({ key }) => key));
  const keysAfter = new Set(after.map(({ key }) => key));
  const silent = before.filter(({ key }) => keysAfter.has(key) && !keysWithin.has(key));
  return { kind: 'series', series: [...within, ...silent], warnings: [] };
}

/** The label sets of the selected streams, since several backend streams may be one Loki stream. */
export async function streamsOf(
  filter: LogsqlFilter,
  range: TimeRange,
  upstream: Upstream,
  reader: RowReader,
): Promise<readonly LabelSet[]> {
  const streams = await upstream.list({ listing: 'streams', query: query(filter), range, hits: 'any' });
  const byKey = new Map<string, LabelSet>();
  for (const { value } of streams) {
    const { labels } = reader.stream(value);
    byKey.set(labels.key, labels);
  }
  return [...byKey.values()];
}

function namesAnswer(names: ReadonlySet<string>, { search, offset, limit }: Browse): NamesAnswer {
  const wanted = search?.toLowerCase() ?? '';
  const found = [...names]
    .filter((name) => wanted === '' || name.toLowerCase().includes(wanted))
    .sort(textOrder);
  const from = offset ?? 0;
  const values = limit === undefined ? found.slice(from) : found.slice(from, from + limit);
  return { kind: 'names', values, warnings: [] };
}

/** Throws `labelValuesTooLarge` when values take more bytes than allowed; 0 allows any (`-label-values-max-response-bytes`). */
function enforceSize(values: Iterable<string>, maxBytes: number): void {
  if (maxBytes === 0) return;
  let size = 0;
  for (const value of values) size += Buffer.byteLength(value);
  if (size > maxBytes) throw apiError('labelValuesTooLarge', { read: maxBytes + 1, limit: maxBytes });
}

/** Answers with a listing in the form in which the backend stores it. */
export async function answerStoredList(
  { listing }: StoredListPlan,
  { range }: SeriesRequest,
  { upstream }: EngineContext,
): Promise<NamesAnswer> {
  const listed = await upstream.list({ ...listing, range, hits: 'any' });
  return { kind: 'names', values: listed.map(({ value }) => value), warnings: [] };
}
