import { pipelineError, type RangeEngine } from '../../../logql/metric/index.js';
import type { SampleExtractor } from '../../../logql/pipeline/extractor.js';
import { detectedLevelName } from '../../../victoria/names/level.js';
import type { RowReader } from '../../../victoria/names/row-reader.js';
import type { BackendRow } from '../../../victoria/upstream/types.js';
import type { Get } from './grouping.js';
import { entryOf } from '../rows/rows.js';
import type { Told } from './shapes.js';

const maxKnown = 20_000;
const anyLine: Told = { line: 'x' };
const anyTime = '1970-01-01T00:00:00Z';

export type GroupValue = readonly [timestampNs: bigint, value: number];

/** A group of rows: its values, each at the last moment of its bucket. */
export interface Group {
  /** The `_stream` text of a stream like those of its rows. */
  readonly stream: string;
  readonly get: Get;
  /** What stands for its lines; undefined where they do not matter. */
  readonly told?: Told;
  readonly values: readonly GroupValue[];
}

/** Treats the groups of a statistic as rows: what is the same for all rows of a group is worked out once. */
export class Groups {
  readonly #reader: RowReader;
  readonly #fields: readonly string[];
  readonly #readsLevels: boolean;
  readonly #isDecided = new Map<string, boolean>();

  /** @param readsLevels whether the level that a line tells matters */
  constructor(reader: RowReader, fields: readonly string[], readsLevels: boolean) {
    this.#reader = reader;
    this.#fields = fields;
    this.#readsLevels = readsLevels;
  }

  /** False for a group, or the group of a row, whose rows differ in what their lines say of the level. */
  isDecided({ stream, get }: Pick<Group, 'stream' | 'get'>): boolean {
    if (!this.#readsLevels) return true;
    const isBare = this.#fields.every((name) => (get(name) ?? '') === '');
    const key = isBare ? stream : JSON.stringify([stream, ...this.#fields.map((name) => get(name) ?? '')]);
    let decided = this.#isDecided.get(key);
    if (decided === undefined) {
      if (this.#isDecided.size >= maxKnown) this.#isDecided.clear();
      const [a, b] = ['info', 'error'].map((line) => this.#reader.read(this.#row(stream, get, { line })));
      decided = a?.structuredMetadata.key === b?.structuredMetadata.key;
      this.#isDecided.set(key, decided);
    }
    return decided;
  }

  /**
   * Adds the values of a group.
   * @throws ApiError `pipelineError` as for a row
   */
  add({ stream, get, told = anyLine, values }: Group, extract: SampleExtractor, engine: RangeEngine): void {
    const sample = extract(entryOf(this.#reader.read(this.#row(stream, get, told))));
    if (sample === undefined) return;
    for (const [timestampNs, value] of values) {
      if (!engine.isInWindow(timestampNs)) continue;
      if (sample.error !== undefined) throw pipelineError(sample.error, sample.labels);
      engine.add(sample.labels, timestampNs, value);
    }
  }

  /** Whether a group may hide what its values look like: the backend shows numbers like 1_000 as 1000 when it groups by them. */
  mayBeRewritten({ get }: Group): boolean {
    return this.#fields.some((name) => /^[0-9]{2,}$/.test(get(name) ?? ''));
  }

  #row(stream: string, get: Get, { line, level }: Told): BackendRow {
    const fields = this.#fields.map((name): [string, string] => [name, get(name) ?? '']);
    if (level !== undefined) fields.push([detectedLevelName, level]);
    return Object.fromEntries([...fields, ['_time', anyTime], ['_stream', stream], ['_msg', line]]);
  }
}
