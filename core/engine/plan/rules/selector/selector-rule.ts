import type { Matcher } from '../../../../logql/ast.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import type { Naming } from '../../../../victoria/names/naming.js';
import { LabelFields } from '../../label-fields.js';
import { kindOfRule } from '../rule.js';

/** A matcher of a stream selector, with the name that the label has here. */
export interface NamedMatcher {
  readonly name: string;
  readonly matcher: Matcher;
  readonly naming: Naming;
}

/** Defines a rule about a matcher of a stream selector. No selector is evaluated here, so all of them have to be exact. */
export const selectorRule = kindOfRule<NamedMatcher, LogsqlFilter, [], 'exact'>();

/** Rows of the streams whose label passes; open where a listing may show more stored fields of the label. */
export function labelMatch({ name, matcher: { op, value }, naming }: NamedMatcher): LogsqlFilter {
  const asWritten = new LabelFields(naming).select({ name, op, value });
  return LabelFields.needsListing(name, naming) ? { kind: 'label', name, op, value, asWritten } : asWritten;
}
