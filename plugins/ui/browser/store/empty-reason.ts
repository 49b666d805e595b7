import { fetchExplanation, fetchLabels, fetchNarrowing, fetchRange, fetchValues } from '../api.js';
import { groupsOf, logRows, type LogRow } from '../model/log-rows.js';
import { nearWords } from '../model/query/near.js';
import type { QueryState } from '../model/query-state.js';
import { nsRange, type NsRange, type TimeRange } from '../model/time-range.js';
import type { Narrowing, NarrowingStage } from '../model/wire.js';

/** The reason why a query has no lines, with what to ask for instead. */
export type EmptyReason =
  /** No stream has the label at all. */
  | { readonly kind: 'label'; readonly name: string; readonly near: readonly string[] }
  /** No stream has this value of the label. */
  | {
      readonly kind: 'value';
      readonly name: string;
      readonly value: string;
      readonly near: readonly string[];
      readonly count: number;
    }
  /** Each label has its value, but in different streams. */
  | { readonly kind: 'together'; readonly names: readonly string[] }
  /** The selected streams have lines at another time. */
  | { readonly kind: 'range'; readonly at: TimeRange }
  /** A filter leaves out every line that reaches it. */
  | {
      readonly kind: 'stage';
      readonly index: number;
      readonly text: string;
      /** Lines that reached the filter, of at most `maxSample`. */
      readonly lines: number;
      readonly field: FieldReason | undefined;
      /** An error that lines have there, such as `JSONParserErr`. */
      readonly error: string | undefined;
    };

/** The field that a filter compares. */
export interface FieldReason {
  readonly name: string;
  /** True if none of the lines has it. */
  readonly isMissing: boolean;
  readonly near: readonly string[];
  /** Fields that the lines have. */
  readonly fields: readonly string[];
  /** Values that the lines have in it. */
  readonly values: readonly string[];
  /** True if nothing before the filter parses lines. */
  readonly lacksParser: boolean;
}

/** Maximum number of lines that a probe reads. */
export const maxSample = 50;
const maxLabelsChecked = 3;
const withinMs = 10_000;
const minute = 60_000;
const lookedBack = [1_440 * minute, 10_080 * minute, 43_200 * minute];

/** Finds why a log query has no lines, by at most some ten small requests. The first reasons are the most likely ones. */
export async function findReasons(
  asked: QueryState,
  range: TimeRange,
  signal: AbortSignal,
): Promise<readonly EmptyReason[]> {
  const probe = new Probe(asked, range, signal);
  const narrowing = await fetchNarrowing(asked.query, probe.within());
  const filters = narrowing.stages.flatMap((stage, index) => (stage.kind === 'other' ? [] : [index]));
  const [first] = filters;
  const unfiltered = first === undefined ? [] : await probe.lines(narrowing.stages[first]?.before ?? '');
  if (unfiltered.length > 0) return [await stageReason(probe, narrowing, filters, unfiltered)];
  return selectorReasons(probe, narrowing);
}

/** The small requests by which a reason is found. */
class Probe {
  constructor(
    readonly asked: QueryState,
    readonly range: TimeRange,
    readonly signal: AbortSignal,
  ) {}

  within(): AbortSignal {
    return AbortSignal.any([this.signal, AbortSignal.timeout(withinMs)]);
  }

  get scope(): { readonly tenant: string; readonly range: NsRange } {
    return { tenant: this.asked.tenant, range: nsRange(this.range) };
  }

  async lines(query: string): Promise<readonly LogRow[]> {
    const asked = { ...this.asked, query, limit: maxSample, range: nsRange(this.range) };
    const { data } = await fetchRange(asked, this.within());
    return data.resultType === 'streams' ? logRows(data.result, this.asked.direction) : [];
  }
}

/** The filter that leaves out the last lines: the first one that nothing passes, found by halving. */
async function stageReason(
  probe: Probe,
  { stages }: Narrowing,
  filters: readonly number[],
  unfiltered: readonly LogRow[],
): Promise<EmptyReason> {
  let [low, high, sample] = [0, filters.length - 1, unfiltered];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const rows = await probe.lines(stages[filters[middle] ?? 0]?.before ?? '');
    if (rows.length > 0) [low, sample] = [middle, rows];
    else high = middle - 1;
  }
  const index = filters[low] ?? 0;
  const stage = stages[index];
  return {
    kind: 'stage',
    index,
    text: stage?.text ?? '',
    lines: sample.length,
    field: stage === undefined ? undefined : fieldReason(stage, stages.slice(0, index), sample),
    error: sample.find(({ error }) => error !== undefined)?.error,
  };
}

/** The field that explains best why a filter passes no line: one that no line has, else the first one. */
function fieldReason(
  { reads }: NarrowingStage,
  before: readonly NarrowingStage[],
  sample: readonly LogRow[],
): FieldReason | undefined {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of sample.flatMap((row) => groupsOf(row).flatMap(({ labels }) => labels)))
    values.set(name, (values.get(name) ?? new Set()).add(value));
  const name = reads.find((one) => !values.has(one)) ?? reads[0];
  if (name === undefined) return undefined;
  const fields = [...values.keys()].filter((one) => !one.startsWith('__')).toSorted();
  return {
    name,
    isMissing: !values.has(name),
    near: nearWords(name, fields),
    fields,
    values: [...(values.get(name) ?? [])].toSorted(),
    lacksParser: before.every(({ kind }) => kind !== 'other'),
  };
}

/** Why the selector has no lines in the range: a name or value that does not exist, or another time. */
async function selectorReasons(
  probe: Probe,
  { selector, labels }: Narrowing,
): Promise<readonly EmptyReason[]> {
  const { scope } = probe;
  const names = await fetchLabels('', scope);
  const reasons: EmptyReason[] = [];
  const compared = labels.filter(({ op, value }) => op === '=' && value !== '').slice(0, maxLabelsChecked);
  for (const { name, value } of names.length === 0 ? [] : compared) {
    if (!names.includes(name)) reasons.push({ kind: 'label', name, near: nearWords(name, names) });
    else {
      const values = await fetchValues(name, '', scope);
      if (!values.includes(value))
        reasons.push({ kind: 'value', name, value, near: nearWords(value, values), count: values.length });
    }
  }
  const isTogether = reasons.length === 0 && names.length > 0 && labels.length > 1;
  const at = await nearestData(probe, selector);
  if (at !== undefined) return [{ kind: 'range', at }, ...reasons];
  return isTogether ? [{ kind: 'together', names: [...new Set(labels.map(({ name }) => name))] }] : reasons;
}

/** The time nearest to the range at which a selector has lines, looked for in the last day, week and month. */
async function nearestData(
  { asked, range, ...probe }: Probe,
  selector: string,
): Promise<TimeRange | undefined> {
  const nowMs = Date.now();
  const within = (): AbortSignal => AbortSignal.any([probe.signal, AbortSignal.timeout(withinMs)]);
  for (const lengthMs of lookedBack) {
    const startMs = nowMs - lengthMs;
    const step = lengthMs / 48 / 1_000;
    const { histogram: query } = await fetchExplanation({ ...asked, query: selector }, step, within());
    if (query === undefined) return undefined;
    const looked = { ...asked, query, step, range: nsRange({ startMs, endMs: nowMs }) };
    const { data } = await fetchRange(looked, within());
    if (data.resultType !== 'matrix') return undefined;
    const ends = data.result
      .flatMap(({ values }) => values.filter(([, value]) => Number(value) > 0))
      .map(([seconds]) => seconds * 1_000);
    const found = ends.filter((endMs) => endMs <= range.startMs || endMs - step * 1_000 >= range.endMs);
    const distance = (endMs: number): number =>
      endMs <= range.startMs ? range.startMs - endMs : endMs - range.endMs;
    const [nearest] = found.toSorted((a, b) => distance(a) - distance(b));
    if (nearest !== undefined) return { startMs: nearest - step * 1_000, endMs: Math.min(nearest, nowMs) };
  }
  return undefined;
}
