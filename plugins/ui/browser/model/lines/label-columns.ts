import { labelOf, type LogRow } from '../log-rows.js';

/** Choices of the user about columns: labels that are always shown, and labels that are never shown unless asked for. */
export interface ColumnChoice {
  readonly added: readonly string[];
  readonly hidden: readonly string[];
}

export const noChoice: ColumnChoice = { added: [], hidden: [] };

/** A label beside each line; `width` in characters. */
export interface LabelColumn {
  readonly name: string;
  readonly width: number;
}

/** Maximum number of columns, and of those that the page chooses. */
export const mostColumns = 4;
const mostChosen = 2;
const widest = 22;
/** Rows that are looked at, and labels that are offered. */
const mostSampled = 500;
const mostOffered = 200;
/** Values longer than this on average are no column that the page chooses. */
const longValue = 48;

/** Labels that name the source of a line, best first. */
const sources: readonly string[] = [
  'service_name',
  'service',
  'app',
  'pod',
  'k8s_pod_name',
  'container',
  'k8s_container_name',
  'host',
  'hostname',
  'host_name',
  'node',
  'instance',
  'namespace',
  'job',
  'component',
  'filename',
];
const levelNames: ReadonlySet<string> = new Set(['level', 'detected_level', 'severity', 'severity_text']);

interface Usage {
  readonly name: string;
  readonly rows: number;
  readonly distinct: number;
  readonly length: number;
  readonly isParsed: boolean;
}

/** The labels of the first rows, those that name a source first. */
export class LabelUsage {
  readonly #sample: readonly LogRow[];
  readonly #usages: readonly Usage[];

  constructor(rows: readonly LogRow[]) {
    this.#sample = rows.slice(0, mostSampled);
    this.#usages = usagesOf(this.#sample);
  }

  /** All labels that can be columns. */
  get names(): readonly string[] {
    return this.#usages.map(({ name }) => name);
  }

  /** The labels that tell the rows apart best, without those that only repeat another one. */
  differing(): readonly string[] {
    const found: string[] = [];
    for (const usage of this.#usages) {
      if (found.length >= mostChosen) break;
      if (this.#tellsApart(usage) && !found.some((other) => this.#repeats(usage, other)))
        found.push(usage.name);
    }
    return found;
  }

  /** A column that is as wide as its values need. */
  column(name: string): LabelColumn {
    const lengths = this.#sample.map((row) => labelOf(row, name)?.length ?? 0);
    const width = Math.min(widest, Math.max(4, ...lengths) + 2);
    return { name, width };
  }

  #tellsApart({ name, rows, distinct, length, isParsed }: Usage): boolean {
    if (isParsed || levelNames.has(name) || name.startsWith('__') || length > rows * longValue) return false;
    const values = distinct + (rows < this.#sample.length ? 1 : 0);
    // An id that is another one in every row says nothing of where a line is from.
    return values > 1 && (sources.includes(name) || values <= Math.max(8, this.#sample.length / 4));
  }

  /** True if a label says nothing that another one does not say: each value of that one comes with the same value of this one. */
  #repeats({ name }: Usage, other: string): boolean {
    const others = this.#sample.map((row) => labelOf(row, other));
    const pairs = this.#sample.map((row, at) => JSON.stringify([others[at], labelOf(row, name)]));
    return new Set(pairs).size === new Set(others).size;
  }
}

/** The columns to show, given the labels that differ. */
export function columnsOf(
  usage: LabelUsage,
  differing: readonly string[],
  { added, hidden }: ColumnChoice,
): readonly LabelColumn[] {
  const known = new Set(usage.names);
  const chosen = differing.filter((name) => !hidden.includes(name));
  const names = new Set([...chosen, ...added.filter((name) => known.has(name))]);
  return [...names].slice(0, mostColumns).map((name) => usage.column(name));
}

/** The choice after a column was shown or hidden by the user. */
export function withColumn({ added, hidden }: ColumnChoice, name: string, isShown: boolean): ColumnChoice {
  const [others, kept] = [added.filter((one) => one !== name), hidden.filter((one) => one !== name)];
  return isShown
    ? { added: [...others, name].slice(-mostOffered), hidden: kept }
    : { added: others, hidden: [...kept, name].slice(-mostOffered) };
}

/** Parses the stored choice of columns; an invalid one counts as none. */
export function parseColumnChoice(text: string | null): ColumnChoice {
  try {
    const kept: unknown = JSON.parse(text ?? '');
    if (typeof kept !== 'object' || kept === null) return noChoice;
    const read = new Map<string, unknown>(Object.entries(kept));
    return { added: textsOf(read.get('added')), hidden: textsOf(read.get('hidden')) };
  } catch {
    return noChoice;
  }
}

function textsOf(list: unknown): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.filter((one): one is string => typeof one === 'string').slice(0, mostOffered);
}

/** A number from 0 to 7 that a text always has, for its colour. */
export function colourOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) & 7;
}

function usagesOf(rows: readonly LogRow[]): readonly Usage[] {
  const found = new Map<string, { rows: number; length: number; isParsed: boolean; values: Set<string> }>();
  for (const { stream, metadata, parsed } of rows) {
    for (const labels of [stream, metadata, parsed]) {
      for (const [name, value] of Object.entries(labels)) {
        let usage = found.get(name);
        if (usage === undefined) {
          if (found.size >= mostOffered) continue;
          found.set(name, (usage = { rows: 0, length: 0, isParsed: labels === parsed, values: new Set() }));
        }
        usage.rows += 1;
        usage.length += value.length;
        usage.values.add(value);
      }
    }
  }
  return [...found]
    .map(([name, { values, ...usage }]) => ({ name, ...usage, distinct: values.size }))
    .sort((a, b) => rankOf(a) - rankOf(b) || b.rows - a.rows || (a.name < b.name ? -1 : 1));
}

function rankOf({ name, isParsed }: Usage): number {
  const rank = sources.indexOf(name);
  return rank === -1 ? sources.length + (isParsed ? 1 : 0) : rank;
}
