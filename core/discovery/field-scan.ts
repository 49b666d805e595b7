import type { DetectedField, FieldParser } from '../answer/discovery-types.js';
import type { Entry } from '../answer/types.js';
import type { LabelSet } from '../labels/label-set.js';
import { ownText } from '../logql/pipeline/own-text.js';
import { errorDetailsLabel, errorLabel, preserveErrorLabel } from '../logql/pipeline/types.js';
import { fieldTypeOf } from './field-type.js';
import type { KeyPath } from './json-paths.js';
import { LineFieldReader } from './line-fields.js';
import { shownSize } from './shown-size.js';

export interface FieldScanOptions {
  /** Fields that are gathered; those that come later are left out. */
  readonly maxFields: number;
  /** JSON keys with dots keep them (`-logql-dotted-names` accepts them). */
  readonly keepsDots: boolean;
  /** Gathers this field only. */
  readonly only?: string;
}

interface OpenField {
  /** As in the reference, every line tells the type anew, so the value that was read last decides. */
  last: string;
  readonly parsers: Set<FieldParser>;
  jsonPath: KeyPath | undefined;
  readonly values: Set<string>;
}

const hidden: ReadonlySet<string> = new Set([errorLabel, errorDetailsLabel, preserveErrorLabel]);

/** Gathers the fields of log entries: structured metadata, what the query's parsers found, and what a parser finds in the line. */
export class FieldScan {
  readonly #options: FieldScanOptions;
  readonly #reader = new LineFieldReader();
  readonly #fields = new Map<string, OpenField>();

  constructor(options: FieldScanOptions) {
    this.#options = options;
  }

  add(
    stream: LabelSet,
    { structuredMetadata, parsed, line }: Pick<Entry, 'structuredMetadata' | 'parsed' | 'line'>,
  ): void {
    for (const [label, value] of structuredMetadata.labels) this.#take(label, value);
    const found = this.#reader.read(line, stream);
    for (const [label, value] of parsed.labels) this.#take(label, this.#shown(value), found?.parser);
    if (found === undefined) return;
    for (const [label, value] of found.labels.labels) {
      const { path, name } = this.#placeOf(label, found.pathOf);
      this.#take(name, this.#shown(value), found.parser, path);
    }
  }

  fields(): readonly DetectedField[] {
    return [...this.#fields].map(([label, { last, parsers, jsonPath, values }]) => ({
      label,
      type: fieldTypeOf(last),
      parsers: [...parsers],
      jsonPath,
      values: [...values],
    }));
  }

  /** Of one field, sizes are listed in the form in which a query can compare them. */
  #shown(value: string): string {
    return this.#options.only === undefined ? value : (shownSize(value) ?? value);
  }

  /** A key with dots is shown as it is where names may have dots. */
  #placeOf(
    label: string,
    pathOf: (label: string) => KeyPath | undefined,
  ): { readonly name: string; readonly path?: () => KeyPath | undefined } {
    const path = (): KeyPath | undefined => pathOf(label);
    if (!this.#options.keepsDots) return { name: label, path };
    const [key, ...below] = pathOf(label) ?? [];
    return { name: key?.includes('.') === true && below.length === 0 ? key : label, path };
  }

  #take(label: string, value: string, parser?: FieldParser, path?: () => KeyPath | undefined): void {
    if (hidden.has(label)) return;
    const field = this.#fieldOf(label);
    if (field === undefined) return;
    field.last = value;
    if (!field.values.has(value)) field.values.add(ownText(value));
    if (parser !== undefined) field.parsers.add(parser);
    if (field.jsonPath === undefined && parser === 'json' && path !== undefined) field.jsonPath = path();
  }

  #fieldOf(label: string): OpenField | undefined {
    const known = this.#fields.get(label);
    if (known !== undefined) return known;
    const { maxFields, only } = this.#options;
    if (this.#fields.size >= maxFields || (only !== undefined && label !== only)) return undefined;
    const made: OpenField = { last: '', parsers: new Set(), jsonPath: undefined, values: new Set() };
    this.#fields.set(label, made);
    return made;
  }
}
