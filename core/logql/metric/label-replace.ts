import { apiError } from '../../base/errors/table.js';
import { type LabelSet, withoutEmpty } from '../../base/label-set.js';
import { compileRegExp } from '../regexp/index.js';
import type { LabelReplaceExpr } from '../ast.js';

/** Maximum length of a label value. Values in a backend's rows are much shorter; values made from other values can be longer. */
const maxValueLength = 65_536;
/** Maximum cost of one value, in estimated nanoseconds in the worst case. */
const maxCost = 40_000_000;

/**
 * Applies `label_replace` to the labels of a series: if the whole source label matches, the destination becomes the replacement with `$1`
 * and `${name}` expanded. Like all labels without a value, it is removed if that is empty.
 * @throws ApiError `labelTooLong` for a value that becomes too long
 * @throws RegExpSyntaxError, though the parser refuses such a query before
 * @throws ApiError `labelReplaceCost`, from the returned function: evaluating one value would block the process
 */
export function labelReplacer(expr: LabelReplaceExpr): (labels: LabelSet) => LabelSet {
  const { source, destination, replacement } = expr;
  const regexp = compileRegExp(`^(?:${expr.regex})$`);
  const limit = Math.floor(maxCost / (regexp.testCost + regexp.findCost));
  return (labels) => {
    const text = labels.get(source);
    if (text.length > limit) throw apiError('labelReplaceCost', { length: text.length, limit });
    if (!regexp.test(text)) return labels;
    // The pattern matches the whole text or nothing, so replacing all matches expands the replacement once.
    const value = expanded(() => regexp.replaceAll(text, replacement));
    if (value === undefined || value.length > maxValueLength)
      throw apiError('labelTooLong', { label: destination, limit: maxValueLength });
    return withoutEmpty(labels.with([[destination, value]]));
  };
}

/** Returns undefined if the engine cannot represent a text that long. Concatenated texts only take memory once they are read. */
function expanded(expand: () => string): string | undefined {
  try {
    return expand();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
