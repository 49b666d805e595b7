import { LabelFields } from '../../engine/plan/columns.js';
import type { PlanContext } from '../../engine/plan/types.js';
import { isDerived } from '../../engine/plan/rules/label.js';
import type { Naming } from '../../victoria/names/naming.js';
import { mayBeFilledIn } from '../../victoria/names/otlp-fill.js';
import { type KnownNames, namesAsWritten, storedNames } from '../../victoria/names/name-learner.js';
import { NotConvertible } from './not-convertible.js';

/** A label of a series, and the stored field that holds it. */
export interface SeriesLabel {
  readonly label: string;
  readonly field: string;
}

/** The names that a tenant's rows have in VictoriaLogs. */
export interface NamesInBackend {
  readonly streamFields: readonly string[];
  readonly fields: readonly string[];
}

/** Finds the stored fields of labels, as the proxy's naming options and the names in the backend define them. */
export class StoredLabels {
  readonly context: PlanContext;
  readonly #naming: Naming;
  readonly #names: KnownNames;
  readonly #stored: ReadonlySet<string> | undefined;
  readonly #streamFields: readonly string[];

  /** @param known undefined if names are stored as rules write them */
  constructor(naming: Naming, known: NamesInBackend | undefined) {
    this.#naming = naming;
    this.#streamFields = known?.streamFields ?? [];
    this.#stored = known && new Set([...known.streamFields, ...known.fields]);
    this.#names = known === undefined ? namesAsWritten : storedNames([...(this.#stored ?? [])], naming);
    const fields = new LabelFields(naming, this.#streamFields);
    this.context = { naming, fields, hidesInternal: true };
  }

  /** @throws NotConvertible if no single stored field holds the label */
  find(label: string): SeriesLabel {
    if (isDerived(label)) throw new NotConvertible(`the proxy computes the label ${label} for each line`);
    const fields = this.knownFieldsOf(label);
    const [field = label, another] = fields;
    if (another !== undefined)
      throw new NotConvertible(`the label ${label} is stored under several names: ${fields.join(', ')}`);
    if (mayBeFilledIn(field))
      throw new NotConvertible(
        `VictoriaLogs fills in the field ${field}, and clients see it as missing then`,
      );
    return { label, field };
  }

  /**
   * The stored fields of a label that a query names. A label with an underscore may be stored under another name, such as `team.owner`
   * for `team_owner`, so one that no recent row has cannot be named in LogsQL: later rows would be missed silently.
   * @throws NotConvertible if the names in the backend are known and none of them is that of the label
   */
  knownFieldsOf(label: string): readonly string[] {
    const fields = this.fieldsOf(label);
    if (fields.length === 0 && label.includes('_') && !isDerived(label))
      throw new NotConvertible(
        `no log line within -lookback has the label ${label}, so the name of its stored field is not known`,
      );
    return fields;
  }

  /** All stored fields that may hold the label. */
  fieldsOf(label: string): readonly string[] {
    const stored = this.#stored;
    if (stored === undefined) return [label];
    const declared = this.#naming.fieldsOf(label, this.#streamFields).filter((field) => stored.has(field));
    return [...new Set([...declared, ...this.#names.fieldsOf(label)])];
  }
}
