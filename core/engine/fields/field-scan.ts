import type { DetectedField, FieldParser } from '../../wire/answer/discovery-types.js';
import type { Entry } from '../../wire/answer/types.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import type { LinePlace } from '../../logql/lines/evaluator.js';
import type { KeyPath } from '../../logql/pipeline/key-table.js';
import { ownText } from '../../logql/pipeline/slot.js';
import { errorDetailsLabel, errorLabel, preserveErrorLabel } from '../../logql/pipeline/types.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, textBytes } from '../../base/memory/sizes.js';
import { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import { fieldTypeOf } from './field-type.js';
import { LineFieldReader, noPaths, type LineFields, type LinePaths } from './line-fields.js';
import { shownSize } from '../volume/shown-size.js';

export interface FieldScanOptions {
  /** The most fields to collect; later ones are left out. */
  readonly maxFields: number;
  /** True when JSON keys keep their dots (`-logql-dotted-names` accepts them). */
  readonly keepsDots: boolean;
  /** Collects this field only. */
  readonly only?: string;
}

interface OpenField {
  /**
   * As in Loki, every line redefines the type, so the line read last decides: by what the query's parsers extracted from it, or else by what
   * is found in it. So does the last JSON line for the path.
   */
  last: string;
  readonly parsers: Set<FieldParser>;
  /** The last JSON line with the field, and its label there: this path is the one shown. */
  lastJson: LineFields | undefined;
  lastLabel: string;
  readonly values: Set<string>;
}

/** Bytes of a field with its two sets. */
const fieldBytes = 700;
const hidden: ReadonlySet<string> = new Set([errorLabel, errorDetailsLabel, preserveErrorLabel]);

/** Collects the fields of log entries: structured metadata, what the query's parsers extracted, and what a parser finds in the line. */
export class FieldScan {
  readonly #options: FieldScanOptions;
  readonly #reader: LineFieldReader;
  readonly #pacer: Pacer;
  readonly #memory: MemoryAccount;
  readonly #fields = new Map<string, OpenField>();

  /** Expensive lines are evaluated in `place`, and memory is charged to its account. */
  constructor(options: FieldScanOptions, place: LinePlace & { readonly memory: MemoryAccount }) {
    this.#options = options;
    this.#memory = place.memory;
    this.#reader = new LineFieldReader(place);
    this.#pacer = new Pacer(place.signal);
  }

  /** Adds an entry; call again only after the previous call has finished. */
  async add(
    stream: LabelSet,
    { structuredMetadata, parsed, line }: Pick<Entry, 'structuredMetadata' | 'parsed' | 'line'>,
  ): Promise<void> {
    for (const [label, value] of structuredMetadata.labels) this.#take(label, label, value);
    const found = await this.#reader.read(line, stream);
    await eachAtPace(parsed.labels, this.#pacer, ([label, value]) =>
      this.#take(label, label, this.#shown(value), found),
    );
    if (found === undefined) return;
    const pathOf = this.#options.keepsDots ? await found.readPaths() : noPaths;
    await eachAtPace(found.labels.labels, this.#pacer, ([label, value]) => {
      const typed = parsed.has(label) ? parsed.get(label) : value;
      this.#take(nameOf(label, pathOf(label)), label, this.#shown(value), found, this.#shown(typed));
    });
  }

  async fields(): Promise<readonly DetectedField[]> {
    const fields: DetectedField[] = [];
    const paths = await this.#lastPaths();
    await eachAtPace(this.#fields, this.#pacer, ([label, { last, parsers, lastJson, lastLabel, values }]) =>
      fields.push({
        label,
        type: fieldTypeOf(last),
        parsers: [...parsers],
        jsonPath: lastJson && paths.get(lastJson)?.(lastLabel),
        values: [...values],
      }),
    );
    return fields;
  }

  /** Sizes of a field are listed in the form in which a query can compare them. */
  #shown(value: string): string {
    return this.#options.only === undefined ? value : (shownSize(value) ?? value);
  }

  /** Finding paths requires parsing a line again, so only lines that are the last of some field are. */
  async #lastPaths(): Promise<ReadonlyMap<LineFields, LinePaths>> {
    const paths = new Map<LineFields, LinePaths>();
    for (const { lastJson } of this.#fields.values())
      if (lastJson !== undefined && !paths.has(lastJson)) paths.set(lastJson, await lastJson.readPaths());
    return paths;
  }

  /** @param typed the value that decides the type */
  #take(name: string, label: string, value: string, found?: LineFields, typed = value): void {
    if (hidden.has(name)) return;
    const field = this.#fieldOf(name);
    if (field === undefined) return;
    field.last = typed;
    if (!field.values.has(value)) {
      this.#memory.charge(entryBytes + textBytes(value), 'the values of fields');
      field.values.add(ownText(value));
    }
    if (found === undefined) return;
    field.parsers.add(found.parser);
    if (found.parser === 'json') [field.lastJson, field.lastLabel] = [found, label];
  }

  #fieldOf(label: string): OpenField | undefined {
    const known = this.#fields.get(label);
    if (known !== undefined) return known;
    if (!this.#hasRoom(label)) return undefined;
    this.#memory.charge(fieldBytes + textBytes(label), 'the values of fields');
    const made: OpenField = {
      last: '',
      parsers: new Set(),
      lastJson: undefined,
      lastLabel: '',
      values: new Set(),
    };
    this.#fields.set(label, made);
    return made;
  }

  #hasRoom(label: string): boolean {
    const { maxFields, only } = this.#options;
    return this.#fields.size < maxFields && (only === undefined || label === only);
  }
}

/** A key with dots is shown unchanged when names may have dots. */
function nameOf(label: string, path: KeyPath | undefined): string {
  const [key, ...below] = path ?? [];
  return key?.includes('.') === true && below.length === 0 ? key : label;
}
