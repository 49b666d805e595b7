import { pipelineError, type RangeEngine } from '../../core/logql/metric/index.js';
import type { SampleExtractor } from '../../core/logql/pipeline/extractor.js';
import type { Naming } from '../../core/names/naming.js';
import type { RowReader } from '../../core/names/row-reader.js';
import type { BackendRow } from '../../core/upstream/types.js';
import { entryOf } from './metric-rows.js';

const maxKnown = 20_000;
const anyTime = '1970-01-01T00:00:00Z';

/** Treats the groups of a statistic as rows: what is the same for all rows of a group is worked out once. */
export class Groups {
  readonly #reader: RowReader;
  readonly #fields: readonly string[];
  readonly #readsLevels: boolean;
  readonly #isDecided = new Map<string, boolean>();

  /** @param readsLevels whether the level of a row matters */
  constructor(reader: RowReader, naming: Naming, fields: readonly string[], readsLevels: boolean) {
    this.#reader = reader;
    this.#fields = fields;
    this.#readsLevels = readsLevels && naming.scansBodies;
  }

  /** False for a group, or the group of a row, whose rows differ in what their lines say of the level. */
  isDecided(get: (name: string) => string | undefined): boolean {
    if (!this.#readsLevels) return true;
    const stream = get('_stream') ?? '{}';
    // Most rows have none of the fields, and then the stream is all there is to know.
    const isBare = this.#fields.every((name) => (get(name) ?? '') === '');
    const key = isBare ? stream : JSON.stringify([stream, ...this.#fields.map((name) => get(name) ?? '')]);
    let decided = this.#isDecided.get(key);
    if (decided === undefined) {
      if (this.#isDecided.size >= maxKnown) this.#isDecided.clear();
      const [a, b] = ['info', 'error'].map((line) => this.#reader.read(this.#row(get, line)));
      decided = a?.structuredMetadata.key === b?.structuredMetadata.key;
      this.#isDecided.set(key, decided);
    }
    return decided;
  }

  /**
   * Adds the values of a group, each at the end of its bucket.
   * @throws ApiError `pipelineError` as for a row
   */
  add(
    labels: ReadonlyMap<string, string>,
    values: readonly (readonly [timestampNs: bigint, value: number])[],
    extract: SampleExtractor,
    engine: RangeEngine,
  ): void {
    const row = this.#reader.read(this.#row((name) => labels.get(name), 'x'));
    const sample = extract(entryOf(row));
    if (sample === undefined) return;
    for (const [timestampNs, value] of values) {
      if (!engine.isInWindow(timestampNs)) continue;
      if (sample.error !== undefined) throw pipelineError(sample.error, sample.labels);
      engine.add(sample.labels, timestampNs, value);
    }
  }

  /** Whether groups may hide what values look like: the backend shows numbers like 1_000 as 1000 when it groups by them. */
  mayBeRewritten(labels: ReadonlyMap<string, string>): boolean {
    return this.#fields.some((name) => /^[0-9]{2,}$/.test(labels.get(name) ?? ''));
  }

  #row(get: (name: string) => string | undefined, line: string): BackendRow {
    const fields = this.#fields.map((name): [string, string] => [name, get(name) ?? '']);
    return Object.fromEntries([
      ...fields,
      ['_time', anyTime],
      ['_stream', get('_stream') ?? '{}'],
      ['_msg', line],
    ]);
  }
}
