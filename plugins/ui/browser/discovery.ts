/** The page's requests for what there is to find: fields, labels, volumes and patterns. */
import { ask, type NamesScope } from './api.js';
import type { CountedValue } from './model/label-values.js';
import type { QueryOutline, WireData, WireSeries } from './model/wire.js';

/** The outline of a query; it calls no backend. */
export function fetchOutline(query: string, signal: AbortSignal): Promise<QueryOutline> {
  return ask('api/outline', { query }, { signal });
}

/** A field of the lines, as `detected_fields` has it. */
export interface DetectedField {
  readonly label: string;
  readonly type: string;
  readonly cardinality: number;
  /** The parsers that find it; null for structured metadata and for what the query itself has parsed. */
  readonly parsers: readonly string[] | null;
}

/** Number of the newest lines in which fields are looked for. */
export const scannedLines = 500;

export async function fetchDetectedFields(
  lines: string,
  scope: NamesScope,
  signal: AbortSignal,
): Promise<readonly DetectedField[]> {
  const params = { ...paramsOf(lines, scope), line_limit: String(scannedLines) };
  const { fields = [] } = await ask<{ readonly fields?: readonly DetectedField[] }>(
    'api/detected_fields',
    params,
    { tenant: scope.tenant, signal },
  );
  return fields;
}

type Vector = readonly {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}[];

/** The most frequent values of a field, most frequent first. */
export async function fetchTopValues(
  lines: string,
  { label, parsers }: DetectedField,
  scope: NamesScope,
  signal: AbortSignal,
): Promise<readonly CountedValue[]> {
  const params = { ...paramsOf(lines, scope), field: label, parser: parsers ?? [] };
  const { data } = await ask<{ readonly data: { readonly result: Vector } }>('api/top_values', params, {
    tenant: scope.tenant,
    signal,
  });
  return countedOf(data.result, label);
}

/** Values of a field in the newest lines, without counts. */
export async function fetchFieldValues(
  lines: string,
  { label }: DetectedField,
  scope: NamesScope,
  signal: AbortSignal,
): Promise<readonly CountedValue[]> {
  const params = { ...paramsOf(lines, scope), line_limit: String(scannedLines), limit: '50' };
  const path = `api/detected_field/${encodeURIComponent(label)}/values`;
  const { values = [] } = await ask<{ readonly values?: readonly string[] }>(path, params, {
    tenant: scope.tenant,
    signal,
  });
  return values.map((value) => ({ value, count: undefined }));
}

const mostVolumes = '1000';

/** The bytes of logs by value of a label, in descending order. An empty selector selects all streams. */
export async function fetchVolumes(
  selector: string,
  label: string,
  scope: NamesScope,
  signal: AbortSignal,
): Promise<readonly CountedValue[]> {
  const params = { ...paramsOf(selector, scope), targetLabels: label, limit: mostVolumes };
  const { data } = await ask<{ readonly data: { readonly result: Vector } }>('api/volume', params, {
    tenant: scope.tenant,
    signal,
  });
  return countedOf(data.result, label);
}

/** The bytes of logs over time by value of a label. */
export async function fetchVolumeSeries(
  selector: string,
  label: string,
  stepSeconds: number,
  scope: NamesScope,
  signal: AbortSignal,
): Promise<readonly WireSeries[]> {
  const params = {
    ...paramsOf(selector, scope),
    targetLabels: label,
    limit: '20',
    step: String(stepSeconds),
  };
  const { data } = await ask<{ readonly data: WireData | { resultType: 'vector'; result: Vector } }>(
    'api/volume_range',
    params,
    { tenant: scope.tenant, signal },
  );
  if (data.resultType === 'matrix') return data.result;
  // One point per series is written as a vector.
  return data.resultType === 'vector'
    ? data.result.map(({ metric, value }) => ({ metric, values: [value] }))
    : [];
}

/** A pattern of lines, with the number of its lines by time. */
export interface WirePattern {
  readonly pattern: string;
  readonly level?: string;
  readonly samples: readonly (readonly [seconds: number, count: number])[];
}

export async function fetchPatterns(
  selector: string,
  stepSeconds: number,
  scope: NamesScope,
  signal: AbortSignal,
): Promise<readonly WirePattern[]> {
  const params = { ...paramsOf(selector, scope), step: String(stepSeconds) };
  return (
    (
      await ask<{ readonly data?: readonly WirePattern[] }>('api/patterns', params, {
        tenant: scope.tenant,
        signal,
      })
    ).data ?? []
  );
}

function paramsOf(query: string, { range }: NamesScope): Record<string, string> {
  const text = query === '' ? '{}' : query;
  return { query: text, start: String(range.startNs), end: String(range.endNs) };
}

function countedOf(result: Vector, label: string): readonly CountedValue[] {
  return result
    .map(({ metric, value }) => ({ value: metric[label] ?? '', count: Number(value[1]) }))
    .filter(({ value }) => value !== '')
    .sort((a, b) => b.count - a.count);
}
