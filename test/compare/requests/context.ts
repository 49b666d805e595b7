import type { Random } from '../../watch/random.js';
import type { Dataset, Entry, Stream, TenantData } from '../data/dataset.js';
import { asLabel, factsOf, type Facts } from '../data/facts.js';
import { anyText, fieldName } from '../data/values.js';
import { shownName } from '../data/view.js';

/** The subject of a query: an entry that it should find, and the names and values known at the current stage. */
export interface Context {
  readonly random: Random;
  readonly tenant: TenantData;
  readonly stream: Stream;
  readonly entry: Entry;
  readonly facts: Facts;
  /** Labels with a value that they have for the entry; stages add to them. */
  readonly known: Map<string, string>;
}

export function makeContext(random: Random, dataset: Dataset): Context {
  const tenant = random.chance(0.85) ? dataset.tenants[0] : random.pick(dataset.tenants);
  if (tenant === undefined) throw new Error('no data');
  // Prefers lines that a parser can extract fields from, because they allow more queries.
  const streams = random.several(2, () => random.pick(tenant.streams), 2);
  const stream = streams.find(hasFields) ?? random.pick(streams);
  const entry = random.pick(stream.entries);
  const known = new Map(Object.entries(stream.labels));
  for (const [name, value] of Object.entries(entry.metadata)) {
    const shown = shownName(name);
    known.set(Object.hasOwn(stream.labels, shown) ? `${shown}_extracted` : shown, value);
  }
  known.set('detected_level', random.pick(['info', 'error', 'warn', 'unknown', 'debug']));
  if (!known.has('service_name')) known.set('service_name', stream.labels['app'] ?? 'unknown_service');
  return { random, tenant, stream, entry, facts: factsOf(entry), known };
}

function hasFields({ shape, entries }: Stream): boolean {
  return (
    /json|logfmt|traefik|kubernetes|packed|long/.test(shape) ||
    entries.some(({ line }, index) => index < 3 && line.startsWith('{'))
  );
}

/** A label, mostly one that the entry has. */
export function aLabel({ random, known }: Context): string {
  return random.chance(0.93) ? random.pick([...known.keys()]) : asLabel(fieldName(random)) || 'x';
}

/** A value for a label, mostly the actual one. */
export function aValue({ random, known }: Context, name: string): string {
  return random.chance(0.8) ? (known.get(name) ?? anyText(random)) : anyText(random);
}

export function aWord({ random, facts }: Context): string {
  return random.chance(0.9) && facts.words.length > 0 ? random.pick(facts.words) : anyText(random);
}

/** A text in one of the two kinds of quotes. */
export function quoted(random: Random, text: string): string {
  const canTick = !text.includes('`') && !text.includes('\r');
  return canTick && random.chance(0.4) ? `\`${text}\`` : goQuoted(text);
}

/** Double quotes as Go reads them: JSON escapes except `\/`, and unescaped non-ASCII characters. */
export function goQuoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\x7f');
}

/** A text that matches itself as a regular expression. */
export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

export function selector(context: Context): string {
  const { random, stream } = context;
  const labels = Object.entries(stream.labels);
  const chosen = random.several(3, () => random.pick(labels), 1);
  const matchers = chosen.map(([name, value], index) => matcher(random, name, value, index === 0));
  if (random.chance(0.25)) matchers.push(otherMatcher(context));
  return `{${matchers.join(random.pick([',', ', ']))}}`;
}

/** A label of any stream. */
export function labelOfAny({ random, tenant }: Context): string {
  return random.pick(Object.keys(random.pick(tenant.streams).labels));
}

/** A matcher for a label that the stream may not have; mostly one that matches the stream. */
function otherMatcher(context: Context): string {
  const { random, stream } = context;
  const name = labelOfAny(context);
  const missing = ['=""', '=~".*"', '=~"pod-1|"', '!~".+"', '!="pod-1"', '!~"pod-1|web"'] as const;
  const present = ['!=""', '=~".+"', '!="zzz"', '!~"zzz|"', '=~".*"'] as const;
  if (random.chance(0.2))
    return random.pick(['nolabel=""', 'pod=~"pod-[0-9]|"', 'shape!~"x.*"', 'service_name=~".+"']);
  const isPresent = Object.hasOwn(stream.labels, name) === random.chance(0.85);
  return `${name}${random.pick(isPresent ? present : missing)}`;
}

function matcher(random: Random, name: string, value: string, mustMatch: boolean): string {
  if (mustMatch && random.chance(0.7)) return `${name}=${quoted(random, value)}`;
  if (mustMatch)
    return `${name}=~${quoted(random, random.pick([escaped(value), `${escaped(value)}|other`, '.+', `${escaped(value.slice(0, 2))}.*`, `(?i)${escaped(value.toUpperCase())}`]))}`;
  const other = anyText(random);
  return random.pick([
    `${name}=${quoted(random, value)}`,
    `${name}!=${quoted(random, other)}`,
    `${name}=~${quoted(random, `${escaped(value)}|${escaped(other)}`)}`,
    `${name}!~${quoted(random, `${escaped(other)}|zzz.*`)}`,
  ]);
}
