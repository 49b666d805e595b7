import { sortedByName, type Labels, type Row, type Source } from './rows.js';

export interface Entry {
  readonly ns: bigint;
  readonly line: string;
  readonly metadata: Labels;
  /** The rows of the entry; repeated rows are one entry. */
  readonly rows: readonly Row[];
  /** Number of its rows that were sent after newer rows of their stream. */
  readonly late: number;
}

export interface Stream {
  readonly labels: Labels;
  /** The name of the shape of its lines. */
  readonly shape: string;
  /** Sorted by time. */
  readonly entries: readonly Entry[];
}

interface StreamNames {
  readonly labels: Labels;
  /** Stream fields that are not labels. */
  readonly metadata: Labels;
}

/** Converts rows to Loki's streams: a second implementation of docs/loki-view.md. */
export function viewOf(sources: readonly Source[]): readonly Stream[] {
  const streams = new Map<string, { labels: Labels; shape: string; entries: Map<string, Entry> }>();
  for (const source of sources) {
    const names = namesOf(source.streamFields);
    const key = JSON.stringify(names.labels);
    const none = { labels: names.labels, shape: source.shape, entries: new Map<string, Entry>() };
    const { entries } = streams.get(key) ?? none;
    if (entries === none.entries) streams.set(key, none);
    for (const [index, row] of [...source.rows, ...source.laterRows].entries()) {
      const late = index < source.rows.length ? 0 : 1;
      const entry = { ...entryOf(row, source, names), late };
      const identity = identityOf(entry);
      const same = entries.get(identity);
      const joined = { ...entry, rows: [...(same?.rows ?? []), row], late: (same?.late ?? 0) + late };
      entries.set(identity, same === undefined ? entry : joined);
    }
  }
  return [...streams.values()].map(({ labels, shape, entries }) => ({
    labels,
    shape,
    entries: [...entries.values()].sort((a, b) => (a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : 0)),
  }));
}

const legalName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const onlyOtlp =
  /^(?:telemetry\..*|k8s\..*|os\.(?:type|name|version|description|build_id)|deployment\.environment(?:\.name)?|service\.(?:namespace|instance\.id))$/;
/** Attributes that Loki promotes to labels, and attributes nested below them. */
const promoted =
  /^(?:service\.(?:name|namespace|instance\.id)|deployment\.environment(?:\.name)?|cloud\.(?:region|availability_zone)|(?:k8s\.(?:container|pod|cluster|namespace|replicaset|deployment|statefulset|daemonset|cronjob|job)|container)\.name)(?:\..*)?$/;

function namesOf(streamFields: Labels): StreamNames {
  const fields = Object.keys(streamFields).filter((field) => streamFields[field] !== '');
  const isExport =
    fields.some((field) => onlyOtlp.test(field)) &&
    !fields.some((field) => field !== 'event_name' && legalName.test(field));
  const isLabel = (field: string): boolean =>
    field !== 'event_name' && (!isExport || legalName.test(field) || promoted.test(field));
  const winners = new Map<string, string>();
  for (const field of fields.filter(isLabel).sort()) {
    const label = labelOf(field);
    if (field === label || !winners.has(label)) winners.set(label, field);
  }
  const labels = [...winners].map(([label, field]) => [label, streamFields[field] ?? ''] as const);
  const others = fields.filter((field) => !isLabel(field));
  return {
    // Loki needs at least one label, and derives this one anyway.
    labels: sortedByName(labels.length > 0 ? labels : [['service_name', 'unknown_service']]),
    metadata: sortedByName(others.map((field) => [field, streamFields[field] ?? ''])),
  };
}

/** Converts a name to a label name. */
function labelOf(field: string): string {
  return legalName.test(field) ? field : shownName(field);
}

/** A name as Loki shows it in structured metadata. */
export function shownName(field: string): string {
  const name = field.replace(/[^A-Za-z0-9]+/g, '_');
  return /^\d/.test(name) ? `key_${name}` : name;
}

const scopePrefix = /^scope\.attributes\./;

function entryOf(row: Row, { door, streamFields }: Source, names: StreamNames): Omit<Entry, 'late'> {
  const { ns, message = '' } = row;
  const own = Object.entries(row.fields).filter(([, value]) => value !== '');
  if (message === '') {
    const fields = sortedByName(own.filter(([field]) => !Object.hasOwn(streamFields, field)));
    const line = Object.keys(fields).length === 0 ? '' : objectText(fields);
    return { ns, line, metadata: names.metadata, rows: [row] };
  }
  const isOtlp = door === 'otlp';
  // A field with the name and value of a stream field is indistinguishable from it.
  const shown = own
    .filter(([field, value]) => streamFields[field] !== value && !(isOtlp && isFilledIn(field, value, row)))
    .map(([field, value]) => [isOtlp ? field.replace(scopePrefix, '') : field, value] as const);
  const metadata = sortedByName(new Map([...Object.entries(names.metadata), ...shown]));
  return { ns, line: message, metadata, rows: [row] };
}

/** An object of texts; `JSON.stringify` alone would put integer names first. */
function objectText(fields: Labels): string {
  const names = Object.keys(fields).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(fields[name])}`).join(',')}}`;
}

const severities = ['Trace', 'Debug', 'Info', 'Warn', 'Error', 'Fatal'].flatMap((name) =>
  ['', '2', '3', '4'].map((step) => name + step),
);

/** The severity text of a record that was sent without one. */
export function severityText(number: number): string {
  return severities[number - 1] ?? 'Unspecified';
}

/** True if VictoriaLogs stores this value because the OpenTelemetry record has none. */
function isFilledIn(field: string, value: string, { fields }: Row): boolean {
  if (field === 'severity_number') return value === '0';
  if (field === 'severity_text') return value === severityText(Number(fields['severity_number']));
  if (field === 'scope.name' || field === 'scope.version') return value === 'unknown';
  return /^(?:trace|span)_id$/.test(field) && /^0+$/.test(value);
}

/** Equal for repeated rows. If several names look the same in Loki, the last renamed one counts. */
function identityOf({ ns, line, metadata }: Pick<Entry, 'ns' | 'line' | 'metadata'>): string {
  const pairs = Object.entries(metadata);
  const renamed = pairs.filter(([field]) => shownName(field) !== field);
  const shown = new Map([...pairs, ...renamed].map(([field, value]) => [shownName(field), value]));
  return JSON.stringify([String(ns), line, [...shown].sort(([a], [b]) => (a < b ? -1 : 1))]);
}
