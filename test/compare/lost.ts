import { parseRowTime } from '../../core/victoria/names/row-time.js';
import type { Answered } from '../conformance/cases.js';
import { asArray, asObject, asText, canonical } from '../conformance/json.js';
import type { Entry, Labels, Stream, TenantData } from './data/dataset.js';
import { asLabel } from './data/facts.js';
import type { PlacedEntry } from './lines.js';
import type { Question } from './question.js';
import { natureOf } from './signature.js';
import type { Different } from './verdict.js';

/** An entry that the backend does not give back as it was pushed. */
export interface Lost {
  readonly stream: Stream;
  readonly entry: Entry;
  readonly reason: string;
}

/** What was pushed and cannot be read back: the line, a label or metadata is another, or missing. */
export function lostEntries({ streams }: TenantData, rows: readonly Labels[]): readonly Lost[] {
  const byTime = new Map<bigint, Labels[]>();
  for (const row of rows) {
    const ns = parseRowTime(row['_time'] ?? '');
    const others = byTime.get(ns) ?? [];
    byTime.set(ns, others);
    others.push(row);
  }
  return streams.flatMap((stream) =>
    stream.entries.flatMap((entry) => {
      const reason = reasonOf(stream, entry, byTime.get(entry.ns) ?? []);
      return reason === undefined ? [] : [{ stream, entry, reason }];
    }),
  );
}

/** Whether a difference can come from the order in which entries, or the metadata of an entry, arrived: VictoriaLogs does not keep it. */
export function orderLost(
  { path }: Question,
  difference: Different,
  lines: readonly PlacedEntry[],
): string | undefined {
  const nature = natureOf(difference);
  if (path === 'detected_fields' && /^(?:type|jsonPath|jsonPath, type)$/.test(nature) && hasTie(lines))
    return 'the order of arrival within an instant';
  const names = new Set(lines.flatMap(({ entry }) => joinedNames(entry)));
  const isOfNames =
    names.size > 0 &&
    (nature.startsWith('labels value of') ||
      without(names, difference.wanted) === without(names, difference.got));
  return isOfNames ? 'the order of metadata whose names become one' : undefined;
}

/** What an answer says of other labels than these: its sets of labels, or its fields. */
function without(names: ReadonlySet<string>, { body }: Answered): string {
  const answer = asObject(body);
  const sets = asArray(asObject(answer['data'])['result']).map((item) => {
    const { metric, stream } = asObject(item);
    return Object.entries(asObject(metric ?? stream)).filter(([name]) => !names.has(name));
  });
  const fields = asArray(answer['fields']).filter((field) => !names.has(asText(asObject(field)['label'])));
  return [...new Set([...sets, ...fields].map((item) => canonical(item)))].sort().join('\n');
}

/** The line read last tells the type and path of a detected field. */
function hasTie(lines: readonly PlacedEntry[]): boolean {
  const seen = new Set<string>();
  return lines.some(({ stream, entry }) => {
    const key = `${entry.ns} ${JSON.stringify(stream.labels)}`;
    return seen.has(key) || !seen.add(key);
  });
}

function joinedNames({ metadata }: Entry): readonly string[] {
  const labels = Object.keys(metadata).map(asLabel);
  return labels.filter((label, index) => labels.indexOf(label) < index);
}

function reasonOf(
  { labels }: Stream,
  { line, metadata }: Entry,
  rows: readonly Labels[],
): string | undefined {
  const own = rows.filter((row) =>
    Object.entries(labels).every(([name, value]) => row[name] === value || name in metadata),
  );
  if (own.length === 0) return `no row with its labels ${JSON.stringify(labels)}`;
  const sameLine = own.filter((row) => (row['_msg'] ?? '') === line);
  if (line === '') return 'an empty line';
  if (sameLine.length === 0)
    return `line ${JSON.stringify(line.slice(0, 100))} read back as ${JSON.stringify(own[0]?.['_msg']?.slice(0, 100))}`;
  const twin = Object.entries(metadata).find(([name, value]) => labels[name] === value);
  if (twin !== undefined)
    return `metadata ${twin[0]} is what the label of its stream is, and cannot be told from it`;
  const faults = sameLine.map((row) => Object.entries(metadata).find(([name, value]) => row[name] !== value));
  const fault = faults[0];
  if (fault === undefined || faults.includes(undefined)) return undefined;
  const [name, value] = fault;
  return `metadata ${name}=${JSON.stringify(value)} read back as ${JSON.stringify(sameLine[0]?.[name])}`;
}
