import { Random } from '../../watch/random.js';
import { shapes, type Shape } from './shapes.js';
import { anyText, fieldName, hex, levels } from './values.js';

export type Labels = Readonly<Record<string, string>>;

export interface Entry {
  readonly ns: bigint;
  readonly line: string;
  readonly metadata: Labels;
}

export interface Stream {
  readonly labels: Labels;
  /** The name of the shape of its lines. */
  readonly shape: string;
  /** In the order of time. */
  readonly entries: readonly Entry[];
}

export interface TenantData {
  readonly tenant: string;
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
  /** Names; the first has two thirds of the streams. */
  readonly tenants: readonly string[];
  readonly endNs: bigint;
  readonly streams: number;
  readonly linesPerStream: number;
}

/** Less than the age at which Loki flushes a chunk (`max_chunk_age`, two hours). */
export const spanNs = 6600n * 1_000_000_000n;
const apps = ['web', 'api', 'orders', 'checkout', 'db', 'cron', 'Gate-Way', 'worker_2'] as const;
const environments = ['prod', 'dev', 'staging'] as const;

/** Logs by a seed: the same ones for the same settings. */
export function makeDataset(settings: DatasetSettings): Dataset {
  const { seed, endNs } = settings;
  const startNs = endNs - spanNs;
  const names = Object.keys(shapes);
  const tenants = settings.tenants.map((tenant, place) => {
    const count = Math.max(1, place === 0 ? settings.streams : Math.floor(settings.streams / 3));
    const seen = new Set<string>();
    const streams = Array.from({ length: count }, (_, index) => {
      const random = Random.of(seed * 7 + place, index);
      const shape = index < names.length && place === 0 ? (names[index] ?? 'prose') : random.pick(names);
      return makeStream(random, shape, startNs, settings.linesPerStream);
    }).filter(({ labels }) => {
      const key = JSON.stringify(labels);
      return !seen.has(key) && seen.add(key);
    });
    return { tenant, streams };
  });
  return { tenants, startNs, endNs };
}

function makeStream(random: Random, shapeName: string, startNs: bigint, lines: number): Stream {
  const shape = shapes[shapeName];
  if (shape === undefined) throw new Error(`no shape ${shapeName}`);
  const labels = sortedByName(streamLabels(random, shapeName));
  const metadataNames = random.chance(0.55) ? random.several(4, () => metadataName(random), 1) : [];
  const entries = times(random, startNs, random.between(Math.ceil(lines / 3), lines)).map((ns) =>
    makeEntry(random, shape, ns, metadataNames),
  );
  return { labels, shape: shapeName, entries: withoutRepeats(entries) };
}

function streamLabels(random: Random, shapeName: string): Record<string, string> {
  const labels: Record<string, string> = { app: random.pick(apps), env: random.pick(environments), shape: shapeName };
  if (random.chance(0.6)) labels['pod'] = `pod-${random.below(4)}`;
  if (random.chance(0.25)) labels['level'] = random.pick(levels.filter((level) => level !== ''));
  if (random.chance(0.4)) labels['service_name'] = random.pick(apps);
  if (random.chance(0.15)) labels['user'] = random.pick(['x', 'y z', 'é', '"q"', 'a\\b', '{}']);
  if (random.chance(0.15)) labels['status'] = random.pick(['200', '1.5', 'on']);
  if (random.chance(0.08)) labels['app_extracted'] = 'label';
  if (random.chance(0.08)) labels['trace_id'] = hex(random, 8);
  if (random.chance(0.06)) labels['severity'] = random.pick(['error', 'INFO']);
  return labels;
}

function metadataName(random: Random): string {
  const name = random.chance(0.4) ? random.pick(['trace_id', 'user', 'level', 'http.status', 'a-b', 'a.b', 'n']) : fieldName(random);
  // Loki refuses names of nothing but signs, and the store has fields of its own.
  return /^_|^$/.test(name) || !/[a-z\d]/i.test(name) ? 'meta' : name;
}

/** Moments in order: bursts, silences, and now and then the same moment again. */
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

function makeEntry(random: Random, shape: Shape, ns: bigint, metadataNames: readonly string[]): Entry {
  const at = new Date(Number(ns / 1_000_000n));
  const metadata = Object.fromEntries(
    metadataNames.filter(() => random.chance(0.8)).map((name) => [name, metadataValue(random)]),
  );
  return { ns, line: random.chance(0.002) ? '' : shape(random, at), metadata };
}

function metadataValue(random: Random): string {
  const text = random.chance(0.3) ? hex(random, 8) : anyText(random);
  return text === '' ? 'none' : text;
}

/** Loki keeps one of several equal lines of an instant, other stores all. */
function withoutRepeats(entries: readonly Entry[]): readonly Entry[] {
  const seen = new Set<string>();
  return entries.filter(({ ns, line }) => {
    const key = `${ns} ${line}`;
    return !seen.has(key) && seen.add(key);
  });
}

function sortedByName(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
