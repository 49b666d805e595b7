import { detectedLevelName } from '../../../victoria/names/level.js';
import { levelNames } from '../../../victoria/names/level-words.js';
import type { Naming } from '../../../victoria/names/naming.js';
import { serviceNameLabel } from '../../../victoria/names/service-name.js';
import type { StreamIdentity } from '../../../victoria/names/stream-identity.js';
import type { Steps } from '../../../base/pace/steps.js';
import { plainName } from '../../plan/metric-columns.js';
import type { DecidingFields } from './fields.js';
import type { Inventory } from './inventory.js';

/** The value of a column in a group or a row. */
export type Get = (name: string) => string | undefined;

/** By which columns the backend groups rows, such that all rows of a group have the same of the labels that matter. */
export interface Grouping {
  readonly columns: readonly string[];
  /** Stream fields among the columns that stand for whole streams: rows must have their stream's values in them. */
  readonly standIns: readonly string[];
  /** How many groups there are at least, fields of rows aside. */
  readonly size: number;
  /** The `_stream` text of a stream like those of a group; undefined for a group of none. */
  readonly streamOf: (get: Get) => string | undefined;
}

/** Streams that are looked at in one step. */
const stepStreams = 200;

/** Groups by stream: it always does. */
export function groupByStream({ streams }: Inventory, deciding: DecidingFields): Grouping {
  return {
    columns: ['_stream', ...deciding.all],
    standIns: [],
    size: streams.size,
    streamOf: (get) => get('_stream') ?? '{}',
  };
}

/**
 * Groups by the stream fields that make these labels, where they tell the labels of all streams; undefined where they do not.
 * There are far fewer of such groups than streams.
 */
export function* groupByLabels(
  names: ReadonlySet<string>,
  { streams }: Inventory,
  deciding: DecidingFields,
  naming: Naming,
): Steps<Grouping | undefined> {
  const candidates = new Set([...names].flatMap((name) => fieldsBehind(name, naming)));
  for (const name of deciding.all) candidates.add(name);
  const stored = new Set<string>();
  let looked = 0;
  for (const { fields } of streams.values()) {
    for (const name of fields.keys()) if (candidates.has(name)) stored.add(name);
    looked += 1;
    if (looked % stepStreams === 0) yield;
  }
  const standIns = [...stored];
  const wanted = [...new Set([...names].flatMap((name) => [name, plainName(name)]))];
  const byValues = new Map<string, { readonly text: string; readonly shown: string }>();
  for (const [text, stream] of streams) {
    looked += 1;
    if (looked % stepStreams === 0) yield;
    const key = JSON.stringify(standIns.map((name) => stream.fields.get(name) ?? ''));
    const shown = shownOf(stream, wanted, names.has(detectedLevelName));
    const other = byValues.get(key);
    if (other === undefined) byValues.set(key, { text, shown });
    else if (other.shown !== shown) return undefined;
  }
  return {
    columns: [...new Set([...standIns, ...deciding.all])],
    standIns,
    size: byValues.size,
    streamOf: (get) => byValues.get(JSON.stringify(standIns.map((name) => get(name) ?? '')))?.text,
  };
}

/** The stream fields that may make a label, and what a level is taken from. */
function fieldsBehind(name: string, naming: Naming): readonly string[] {
  const names = name === detectedLevelName ? [...levelNames, detectedLevelName] : [name, plainName(name)];
  const fields = names.flatMap((each) => naming.fieldsOf(each));
  return name === serviceNameLabel ? [...fields, ...naming.serviceFields()] : fields;
}

/** All of a stream that can be seen in these labels. */
function shownOf(stream: StreamIdentity, names: readonly string[], withLevel: boolean): string {
  const { labels, level, looksLikeOtlp, metadata } = stream;
  return JSON.stringify([
    names.map((name) => labels.get(name)),
    withLevel ? (level ?? null) : null,
    looksLikeOtlp,
    metadata,
  ]);
}
