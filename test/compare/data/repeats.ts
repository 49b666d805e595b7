import type { Random } from '../../watch/random.js';
import { metadataValue } from './fields.js';
import { fitted, type Labels, type Row, type Source } from './rows.js';

/** Loki accepts lines up to an hour older than the newest of their stream. */
const laterNs = 3000n * 1_000_000_000n;

/** Repeats some rows of a source, unchanged or with one field added, removed or changed; either immediately or after all other rows. */
export function withRepeats(random: Random, source: Source, endNs: bigint): Source {
  if (random.chance(0.4)) return source;
  const again = (share: number, row: Row): readonly Row[] =>
    random.chance(share) ? random.several(2, () => repeatOf(random, row), 1) : [];
  const rows = source.rows.flatMap((row) => [row, ...again(0.04, row)]);
  const laterRows = source.rows.filter(({ ns }) => ns > endNs - laterNs).flatMap((row) => again(0.04, row));
  return { ...source, rows, laterRows };
}

function repeatOf(random: Random, row: Row): Row {
  // Keeps the fields that identify an OpenTelemetry record.
  const names = Object.keys(row.fields).filter((name) => !/^(?:severity_|scope\.)/.test(name));
  const kind = random.below(4);
  if (kind === 0) return { ...row };
  if (kind === 1 || names.length === 0) return withField(row, 'request_id', metadataValue(random));
  const name = random.pick(names);
  if (kind === 2) return withField(row, name, metadataValue(random));
  const fields = Object.entries(row.fields).filter(([field]) => field !== name);
  return { ...row, fields: Object.fromEntries(fields) };
}

function withField(row: Row, name: string, value: string): Row {
  return { ...row, fields: { ...row.fields, [name]: value } };
}

/** Adds siblings to some of the sources: streams that Loki cannot distinguish from the original, with some of its rows. */
export function withSiblings(random: Random, sources: readonly Source[]): readonly Source[] {
  return sources.flatMap((source) => {
    const streamFields = respelled(random, source);
    if (streamFields === undefined || !random.chance(0.3)) return [source];
    const rows = source.rows.flatMap((row) => {
      const kind = random.below(10);
      if (kind < 2) return [row];
      return kind < 4 ? [repeatOf(random, row)] : [];
    });
    return [source, { ...source, streamFields, rows: rows.map((row) => fitted(source.door, streamFields, row)) }];
  });
}

/** Stream fields with the same labels: one field is respelled, or a field that is not a label is added. */
function respelled(random: Random, { door, streamFields }: Source): Labels | undefined {
  if (door === 'otlp') return { ...streamFields, 'service.version': '3' };
  const names = Object.keys(streamFields).filter((name) => /[a-z0-9][-._][a-z0-9]/.test(name));
  if (door === 'push' || door === 'parsed' || names.length === 0) return undefined;
  const name = random.pick(names);
  const other = name.replaceAll(/[-._]/g, random.pick(['-', '.', '_']));
  if (Object.hasOwn(streamFields, other)) return undefined;
  const { [name]: value = '', ...fields } = streamFields;
  return { ...fields, [other]: value };
}
