import type { StringLabelFilter } from '../../../../logql/ast.js';
import type { LabelComparison } from '../../../../logql/pipeline/label-comparison.js';
import { labelMeaning, type Meaning } from '../../../../logql/pipeline/filter-meaning.js';
import { compileMeaning } from '../../../../logql/pipeline/filter-test.js';
import { Meter } from '../../../../logql/pipeline/meter.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { or } from '../../../../victoria/logsql/build.js';
import { mayBeFilledIn } from '../../../../victoria/names/otlp-fill.js';
import { serviceNameLabel } from '../../../../victoria/names/service-name.js';
import { detectedLevelName } from '../../../../victoria/names/level.js';
import type { Naming } from '../../../../victoria/names/naming.js';
import type { KnownNames } from '../../known-names.js';
import { missingLineRows } from '../../missing-lines.js';
import { kindOfRule } from '../rule.js';

/** A comparison of a label, with what the stages in front of it have done to the row. */
export interface PlacedComparison {
  readonly comparison: LabelComparison;
  readonly scope: LabelScope;
  /** True when a stage or comparison before may have marked the row with an error. */
  readonly mayHaveFailed: boolean;
}

export interface LabelScope {
  /** True while a name means what the backend stored under it. */
  isStored(name: string): boolean;
  /**
   * What of the stored line a value of this name was made of, where it is not stored: what stands under keys that have the name, or any
   * piece, as it stands there or unescaped. Undefined where it may have another source.
   */
  sourceInLine(name: string): 'keys' | 'pieces' | undefined;
  /** Whether nothing but `| json` made labels of the stored line. */
  readonly isParsedAsJson: boolean;
  readonly naming: Naming;
}

/**
 * Defines a rule about a comparison of a label. What is asked depends on the stored names; undefined where they leave nothing to
 * ask for. A superset may stand under AND and OR, and never under NOT.
 */
export const labelRule = kindOfRule<PlacedComparison, LogsqlFilter | undefined, [names: KnownNames]>();

/** A comparison of texts, where it is one. */
export function textOf({ comparison }: PlacedComparison): StringLabelFilter | undefined {
  return comparison.kind === 'string' ? comparison : undefined;
}

/** Whether rows without the label pass. */
export function passesMissing(filter: StringLabelFilter): boolean {
  return compileMeaning(labelMeaning(filter), new Meter())('');
}

/** Whether labels of this name are made here, whatever the backend has stored under it. */
export function isDerived(name: string): boolean {
  return (
    name === serviceNameLabel ||
    name === detectedLevelName ||
    name.startsWith('_') ||
    name.endsWith('_extracted')
  );
}

/** All stored fields that a row may show under this name; the name itself where none is known. */
export function spellings(name: string, names: KnownNames): readonly string[] {
  return [...new Set([name, ...names.fieldsOf(name)])];
}

/**
 * The fields that every row shows under this name: a field that only some rows show says nothing of the others. Undefined where the
 * backend may have filled one of them in, which is shown as missing.
 */
export function sureFields(name: string, names: KnownNames): readonly string[] | undefined {
  const fields = names.sureFieldsOf(name);
  return fields.some(mayBeFilledIn) ? undefined : fields;
}

/**
 * Rows in which no stored line shows the value of a label: a field may be the label, or the key of which `| json` makes the label in a line that
 * is rebuilt from fields. Other parsers may find more in such a line.
 * @param passes rows where a field may pass
 */
export function rowsWithField(
  { comparison: { name }, scope }: PlacedComparison,
  names: KnownNames,
  passes: (field: string) => LogsqlFilter,
): LogsqlFilter {
  const parsed = scope.isParsedAsJson ? names.parsedFieldsOf(name) : [];
  const fields = new Set([...spellings(name, names), ...parsed]);
  const others = scope.isParsedAsJson ? [] : [missingLineRows(scope.naming)];
  return or(...others, ...[...fields].map(passes));
}

/** The texts of which a label has to be one, or none of them; undefined where something else is asked. */
export function textsOf({ tests }: Meaning): readonly string[] | undefined {
  const texts: string[] = [];
  for (const test of tests) {
    if (test.kind !== 'equals' || test.ignoresCase) return undefined;
    texts.push(test.text);
  }
  return texts;
}
