import { Random } from '../../watch/random.js';
import {
  eventFieldNames,
  eventValue,
  metadataFieldNames,
  metadataValue,
  recordFields,
  streamFieldsOf,
} from './fields.js';
import { withRepeats, withSiblings } from './repeats.js';
import { fitted, type Door, type Labels, type Row, type Source } from './rows.js';
import { shapes } from './shapes.js';
import { viewOf, type Stream } from './view.js';

export type { Labels, Source } from './rows.js';
export type { Entry, Stream } from './view.js';

export interface TenantData {
  readonly tenant: string;
  /** The rows for the backend. */
  readonly sources: readonly Source[];
  /** Loki's view of the same rows. */
  readonly streams: readonly Stream[];
}

/** All logs of a run. */
export interface Dataset {
  readonly tenants: readonly TenantData[];
  readonly startNs: bigint;
  /** The first instant after the data. */
  readonly endNs: bigint;
}

export interface DatasetSettings {
  readonly seed: number;
  /** Tenant names; the first tenant has two thirds of the streams. */
  readonly tenants: readonly string[];
  readonly endNs: bigint;
  readonly streams: number;
  readonly linesPerStream: number;
}

/** Less than the age at which Loki flushes a chunk (`max_chunk_age`, two hours). */
export const spanNs = 6600n * 1_000_000_000n;
/** Half of the streams look as Loki's clients send them, so that all kinds of lines and queries occur together. */
const doors: readonly Door[] = ['push', 'push', 'push', 'push', 'push', 'parsed', 'wide', 'wide', 'rebuilt', 'otlp'];

/** Generates logs from a seed; equal settings give equal logs. */
export function makeDataset(settings: DatasetSettings): Dataset {
  const { seed, endNs } = settings;
  const startNs = endNs - spanNs;
  const names = Object.keys(shapes);
  const tenants = settings.tenants.map((tenant, place) => {
    const count = Math.max(1, place === 0 ? settings.streams : Math.floor(settings.streams / 3));
    const made = Array.from({ length: count }, (_, index) => {
      const random = Random.of(seed * 7 + place, index);
      const shape = index < names.length && place === 0 ? (names[index] ?? 'prose') : random.pick(names);
      return makeSource(random, shape, startNs, settings.linesPerStream);
    });
    const random = Random.of(seed * 7 + place, count);
    const sources = withSiblings(random, made).map((source) => withRepeats(random, source, endNs));
    return { tenant, sources, streams: viewOf(sources) };
  });
  return { tenants, startNs, endNs };
}

function makeSource(random: Random, shape: string, startNs: bigint, lines: number): Source {
  const door = random.pick(doors);
  const streamFields = streamFieldsOf(random, door, shape);
  const makeRow = rowMaker(random, door, shape);
  const moments = times(random, startNs, random.between(Math.ceil(lines / 3), lines));
  const rows = moments.map((ns) => fitted(door, streamFields, makeRow(ns)));
  return { door, streamFields, shape, rows, laterRows: [] };
}

function rowMaker(random: Random, door: Door, shapeName: string): (ns: bigint) => Row {
  const shape = shapes[shapeName];
  if (shape === undefined) throw new Error(`no shape ${shapeName}`);
  const hasMetadata = random.chance(door === 'push' || door === 'parsed' ? 0.55 : 0.9);
  const metadataNames = hasMetadata ? metadataFieldNames(random, door === 'wide' ? 8 : 4) : [];
  const eventNames = eventFieldNames(random);
  return (ns) => {
    const message = random.chance(0.002) ? '' : shape(random, new Date(Number(ns / 1_000_000n)));
    const record = door === 'otlp' ? recordFields(random) : {};
    if (isEvent(message)) return { ns, message: undefined, fields: { ...fieldsOf(eventNames, eventValue), ...record } };
    return { ns, message, fields: { ...fieldsOf(metadataNames, metadataValue), ...record } };
  };

  function isEvent(message: string): boolean {
    if (door === 'parsed') return message.trimStart().startsWith('{') || random.chance(0.5);
    return random.chance(door === 'rebuilt' ? 0.95 : door === 'otlp' ? 0.1 : 0);
  }

  function fieldsOf(names: readonly string[], valueOf: (random: Random, name: string) => string): Labels {
    return Object.fromEntries(
      names.filter(() => random.chance(0.8)).map((name) => [name, valueOf(random, name)]),
    );
  }
}

/** Sorted timestamps: bursts, gaps, and occasional duplicates. */
function times(random: Random, startNs: bigint, count: number): readonly bigint[] {
  const bursts = random.several(4, () => random.next(), 1);
  const made: bigint[] = [];
  for (let index = 0; index < count; index += 1) {
    const before = made.at(-1);
    if (before !== undefined && random.chance(0.08)) made.push(before);
    else {
      const place = random.chance(0.5) ? random.next() : Math.min(0.9999, random.pick(bursts) + random.next() * 0.01);
      const ns = startNs + BigInt(Math.floor(place * Number(spanNs / 1_000_000n))) * 1_000_000n;
      made.push(random.chance(0.1) ? ns - (ns % 60_000_000_000n) : ns + BigInt(random.below(1_000_000)));
    }
  }
  return made.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
