import { labelName } from '../../logql/pipeline/slot.js';
import { isOwnColumn } from '../upstream/types.js';
import type { Naming } from './naming.js';

/** The stored spellings of client names, learned from the backend (otel-README, rule 5). */
export class StoredNames {
  /** Rows from this time on may have unknown fields; undefined if the requested range has no such rows. */
  readonly unknownFromNs: bigint | undefined;
  /** All fields of rows except those that every row has; undefined if they are not known. */
  readonly fields: readonly string[] | undefined;
  readonly #byClientName: ReadonlyMap<string, readonly string[]>;
  readonly #sure: ReadonlyMap<string, readonly string[]>;
  readonly #parsed: ReadonlyMap<string, readonly string[]>;

  constructor(spellings: Spellings, unknownFromNs?: bigint) {
    this.unknownFromNs = unknownFromNs;
    this.fields = spellings.fields;
    this.#byClientName = spellings.byClientName;
    this.#sure = spellings.sure;
    this.#parsed = spellings.parsed;
  }

  /** Every stored field that a row may show under this name, as a label or as structured metadata. */
  fieldsOf(name: string): readonly string[] {
    return this.#byClientName.get(name) ?? [];
  }

  /** The subset of `fieldsOf` that every row shows under this name, however it was ingested. */
  sureFieldsOf(name: string): readonly string[] {
    return this.#sure.get(name) ?? [];
  }

  /** The fields from which `| json` makes this label, in rows whose line is rebuilt from their fields. */
  parsedFieldsOf(name: string): readonly string[] {
    return this.#parsed.get(name) ?? [];
  }
}

/** Client names derived from a list of stored fields. */
export interface Spellings {
  readonly fields: readonly string[];
  readonly byClientName: ReadonlyMap<string, readonly string[]>;
  readonly sure: ReadonlyMap<string, readonly string[]>;
  readonly parsed: ReadonlyMap<string, readonly string[]>;
}

/** Groups stored fields by all names under which clients may see them. */
export function spellingsOf(fields: readonly string[], naming: Naming): Spellings {
  const byClientName = new Map<string, string[]>();
  const sure = new Map<string, string[]>();
  const parsed = new Map<string, string[]>();
  for (const field of fields) {
    const label = naming.labelOf(field);
    // A name does not show whether it was ingested by OTLP, so both ways of sanitizing it count.
    const byOtlp = new Set(naming.metadataNames(field, true));
    const otherwise = new Set(naming.metadataNames(field, false));
    for (const name of byOtlp) if (otherwise.has(name)) add(sure, name, field);
    const names = new Set([...byOtlp, ...otherwise]);
    if (label !== undefined) names.add(label);
    for (const name of names) add(byClientName, name, field);
    add(parsed, labelName(field), field);
  }
  return { fields: fields.filter((field) => !isOwnColumn(field)), byClientName, sure, parsed };
}

function add(groups: Map<string, string[]>, name: string, field: string): void {
  const group = groups.get(name);
  if (group === undefined) groups.set(name, [field]);
  else group.push(field);
}
