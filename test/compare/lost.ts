import { parseRowTime } from '../../core/victoria/names/row-reader.js';
import type { Answered } from '../../core/comparison/answers.js';
import { asArray, asObject, asText, canonical } from '../../core/comparison/json.js';
import type { Entry, Labels, TenantData } from './data/dataset.js';
import { storedRow } from './data/doors.js';
import type { Row } from './data/rows.js';
import { shownName } from './data/view.js';
import type { PlacedEntry } from './lines.js';
import type { Question } from './question.js';
import { natureOf } from './signature.js';
import type { Different } from './verdict.js';

/** A row that the backend does not return as it was sent. */
export interface Lost {
  readonly row: Row;
  readonly reason: string;
}

/** Rows that cannot be read back as sent: a field differs, is missing, or is extra. */
export function lostRows({ sources }: TenantData, stored: readonly Labels[]): readonly Lost[] {
  const byTime = new Map<bigint, Labels[]>();
  for (const row of stored) {
    const ns = parseRowTime(row['_time'] ?? '');
    const others = byTime.get(ns) ?? [];
    byTime.set(ns, others);
    others.push(row);
  }
  return sources.flatMap((source) =>
    [...source.rows, ...source.laterRows].flatMap((row) => {
      const reason = reasonOf(storedRow(source, row), byTime.get(row.ns) ?? []);
      return reason === undefined ? [] : [{ row, reason }];
    }),
  );
}

/** The reason if a difference can come from the arrival order of entries, or of an entry's metadata, which VictoriaLogs does not keep. */
export function orderLost(
  { path }: Question,
  difference: Different,
  lines: readonly PlacedEntry[],
): string | undefined {
  const nature = natureOf(difference);
  if (path === 'detected_fields' && /^(?:(?:jsonPath|parsers|type)(?:, |$))+$/.test(nature) && hasTie(lines))
    return 'the order of arrival within an instant';
  const names = new Set(lines.flatMap(({ entry }) => joinedNames(entry)));
  const isOfNames =
    names.size > 0 &&
    (nature.startsWith('labels value of') ||
      without(names, difference.wanted) === without(names, difference.got));
  return isOfNames ? 'the order of metadata whose names become one' : undefined;
}

/** The labels of a response other than these: its label sets, or its fields. */
function without(names: ReadonlySet<string>, { body }: Answered): string {
  const answer = asObject(body);
  const sets = asArray(asObject(answer['data'])['result']).map((item) => {
    const { metric, stream } = asObject(item);
    return Object.entries(asObject(metric ?? stream)).filter(([name]) => !names.has(name));
  });
  const fields = asArray(answer['fields']).filter((field) => !names.has(asText(asObject(field)['label'])));
  return [...new Set([...sets, ...fields].map((item) => canonical(item)))].sort().join('\n');
}

/**
 * True if entries of a stream have equal timestamps: the last line read determines the type and path of a detected field, the first one the
 * order of its parsers.
 */
function hasTie(lines: readonly PlacedEntry[]): boolean {
  const seen = new Set<string>();
  return lines.some(({ stream, entry }) => {
    const key = `${entry.ns} ${JSON.stringify(stream.labels)}`;
    return seen.has(key) || !seen.add(key);
  });
}

function joinedNames({ metadata }: Entry): readonly string[] {
  const labels = Object.keys(metadata).map(shownName);
  return labels.filter((label, index) => labels.indexOf(label) < index);
}

/** Fields that the backend derives, and the time, which is the lookup key of rows. */
const made: ReadonlySet<string> = new Set(['_time', '_stream', '_stream_id']);

/** The first difference between a sent row and the most similar stored row. */
function reasonOf(sent: Labels, stored: readonly Labels[]): string | undefined {
  let fewest: readonly string[] | undefined;
  for (const row of stored) {
    const names = [...new Set([...Object.keys(sent), ...Object.keys(row)])];
    const others = names.filter((name) => !made.has(name) && own(row, name) !== own(sent, name));
    if (others.length === 0) return undefined;
    if (fewest !== undefined && fewest.length <= others.length) continue;
    fewest = others.map((name) => `${name} ${shown(own(sent, name))} read back as ${shown(own(row, name))}`);
  }
  return fewest?.[0] ?? 'no row of its time';
}

function own(row: Labels, name: string): string | undefined {
  return Object.hasOwn(row, name) ? row[name] : undefined;
}

function shown(value: string | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value.slice(0, 100));
}
