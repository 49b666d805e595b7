import { Memo } from '../../../base/memory/byte-lru.js';
import { zonesByNames } from './zone-names-table.js';

/** A time zone; Go calls it a location. */
export interface Zone {
  /** The zone as `%#v` prints it; undefined for a zone with a single offset. */
  readonly goName: string;
  /** Seconds east of UTC, and the abbreviation, at a time in seconds since 1970. */
  at(unix: number): ZoneOffset;
  /** The offset for an abbreviation. */
  offsetOf(name: string, unix: number): number | undefined;
}

export interface ZoneOffset {
  readonly name: string;
  readonly offset: number;
}

/** A zone with a single offset. */
export function fixedZone(
  name: string,
  offset: number,
  goName = `time.Location(${JSON.stringify(name)})`,
): Zone {
  const only = { name, offset };
  return { goName, at: () => only, offsetOf: (asked) => (asked === name ? offset : undefined) };
}

export const utc = fixedZone('UTC', 0, 'time.UTC');
/** The zone of the process: Loki runs in UTC. */
export const local = fixedZone('UTC', 0, 'time.Local');

const maxKeptZones = 64;
const ianaZones = new Memo<string, Zone>(maxKeptZones, (name) => {
  const row = zoneRows().get(name);
  return (row === undefined ? undefined : ianaZone(name, row)) ?? utc;
});
let namesByZone: ReadonlyMap<string, string> | undefined;

/** A zone of the IANA database; UTC for an unknown name. */
export function loadZone(name: string): Zone {
  if (name === '' || name === 'UTC') return utc;
  if (name === 'Local') return local;
  // Unknown names come from lines and may be long, so they are not kept.
  return zoneRows().has(name) ? ianaZones.get(name) : utc;
}

function zoneRows(): ReadonlyMap<string, string> {
  namesByZone ??= new Map(
    Object.entries(zonesByNames).flatMap(([names, zones]) =>
      zones.split(' ').map((zone) => [zone, names] as const),
    ),
  );
  return namesByZone;
}

const maxKeptQuarters = 4096;

function ianaZone(name: string, row: string): Zone | undefined {
  const format = formatFor(name);
  if (format === undefined) return undefined;
  const names = new Map(
    row.split(',').map((pair) => {
      const [offset = '', short = ''] = pair.split('=');
      return [Number(offset), short] as const;
    }),
  );
  // In the relevant years, offsets only change on quarter hours.
  const quarters = new Memo<number, ZoneOffset>(maxKeptQuarters, (quarter) => {
    const offset = offsetAt(format, quarter * 900);
    return { name: names.get(offset) ?? oldName(offset, quarter * 900), offset };
  });
  const at = (unix: number): ZoneOffset => quarters.get(Math.floor(unix / 900));
  const offsetOf = (asked: string, unix: number): number | undefined => {
    const offsets = [...names].filter(([, short]) => short === asked).map(([offset]) => offset);
    return offsets.find((offset) => at(unix - offset).name === asked) ?? offsets[0];
  };
  return { goName: `time.Location(${JSON.stringify(name)})`, at, offsetOf };
}

function formatFor(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The largest time of a Date. */
const maxDate = 8.64e12;

function offsetAt(format: Intl.DateTimeFormat, unix: number): number {
  const date = new Date(Math.min(Math.max(unix, -maxDate), maxDate) * 1000);
  const text = format.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /([+-])([0-9]+):([0-9]+)(?::([0-9]+))?/.exec(text) ?? [];
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === '-' ? -size : size;
}

/** Before 1900 zones used local mean time; names no longer used in 1970 are not distinguished. */
function oldName(offset: number, unix: number): string {
  return unix < -2_208_988_800 ? 'LMT' : numericName(offset);
}

function numericName(offset: number): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  const hours = String(Math.floor(minutes / 60)).padStart(2, '0');
  const rest = minutes % 60 === 0 ? '' : String(minutes % 60).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${hours}${rest}`;
}
