import type { DetectedField, FieldParser } from '../../wire/answer/discovery-types.js';
import type { Entry } from '../../wire/answer/types.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import type { LinePlace } from '../../logql/lines/evaluator.js';
import type { KeyPath } from '../../logql/pipeline/key-paths.js';
import { ownText } from '../../logql/pipeline/own-text.js';
import { errorDetailsLabel, errorLabel, preserveErrorLabel } from '../../logql/pipeline/types.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { entryBytes, textBytes } from '../../base/memory/sizes.js';
import { Pacer } from '../../base/pace/pacer.js';
import { eachAtPace } from '../../base/pace/steps.js';
import { fieldTypeOf } from './field-type.js';
import { LineFieldReader, noPaths, type LineFields } from './line-fields.js';
import { shownSize } from '../volume/shown-size.js';

export interface FieldScanOptions {
  /** The most fields to collect; later ones are left out. */
  readonly maxFields: number;
  /** Whether JSON keys keep their dots (`-logql-dotted-names` accepts them). */
  readonly keepsDots: boolean;
  /** Collects this field only. */
  readonly only?: string;
}

interface OpenField {
  /** As in Loki, every line redefines the type, so the value read last decides. */
  last: string;
  readonly parsers: Set<FieldParser>;
  jsonPath: KeyPath | undefined;
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
    for (const [label, value] of structuredMetadata.labels) this.#take(label, value);
    const found = await this.#reader.read(line, stream);
    await eachAtPace(parsed.labels, this.#pacer, ([label, value]) =>
      this.#take(label, this.#shown(value), found?.parser),
    );
    if (found === undefined) return;
    const pathOf = this.#needsPaths(found) ? await found.readPaths() : noPaths;
    await eachAtPace(found.labels.labels, this.#pacer, ([label, value]) => {
      const path = pathOf(label);
      this.#take(this.#nameOf(label, path), this.#shown(value), found.parser, path);
    });
  }

  async fields(): Promise<readonly DetectedField[]> {
    const fields: DetectedField[] = [];
    await eachAtPace(this.#fields, this.#pacer, ([label, { last, parsers, jsonPath, values }]) =>
      fields.push({
        label,
        type: fieldTypeOf(last),
        parsers: [...parsers],
        jsonPath,
        values: [...values],
      }),
    );
    return fields;
  }

  /** Sizes of a field are listed in the form in which a query can compare them. */
  #shown(value: string): string {
    return this.#options.only === undefined ? value : (shownSize(value) ?? value);
  }

  /** Finding paths requires parsing the line again, so only the first line with a field is used. */
  #needsPaths({ parser, labels }: LineFields): boolean {
    if (parser !== 'json') return false;
    return (
      this.#options.keepsDots ||
      labels.labels.some(([label]) =>
        this.#fields.has(label) ? this.#fields.get(label)?.jsonPath === undefined : this.#hasRoom(label),
      )
    );
  }

  /** A key with dots is shown unchanged when names may have dots. */
  #nameOf(label: string, path: KeyPath | undefined): string {
    if (!this.#options.keepsDots) return label;
    const [key, ...below] = path ?? [];
    return key?.includes('.') === true && below.length === 0 ? key : label;
  }

  #take(label: string, value: string, parser?: FieldParser, path?: KeyPath): void {
    if (hidden.has(label)) return;
    const field = this.#fieldOf(label);
    if (field === undefined) return;
    field.last = value;
    if (!field.values.has(value)) {
      this.#memory.charge(entryBytes + textBytes(value), 'the values of fields');
      field.values.add(ownText(value));
    }
    if (parser !== undefined) field.parsers.add(parser);
    field.jsonPath ??= path;
  }

  #fieldOf(label: string): OpenField | undefined {
    const known = this.#fields.get(label);
    if (known !== undefined) return known;
    if (!this.#hasRoom(label)) return undefined;
    this.#memory.charge(fieldBytes + textBytes(label), 'the values of fields');
    const made: OpenField = { last: '', parsers: new Set(), jsonPath: undefined, values: new Set() };
    this.#fields.set(label, made);
    return made;
  }

  #hasRoom(label: string): boolean {
    const { maxFields, only } = this.#options;
    return this.#fields.size < maxFields && (only === undefined || label === only);
  }
}
