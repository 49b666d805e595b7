import { apiError } from '../../base/errors/table.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import { compileRegExp } from '../regexp/index.js';
import type { LabelReplaceExpr } from '../ast.js';
import { withoutEmpty } from './grouping.js';

/** Characters that one label value may have. Values of a backend's rows are not nearly as long; values made of values can be. */
const maxValueLength = 65_536;
/** Nanoseconds for one value, as they are estimated for the worst. */
const maxCost = 40_000_000;

/**
 * What `label_replace` makes of the labels of a series: where the whole source label matches, the destination becomes the
 * replacement with `$1` and `${name}` filled in, or goes when that is empty, as all labels without a value do.
 * @throws ApiError `labelTooLong` for a value that is made too long
 * @throws RegExpSyntaxError; the parser refuses such a query before
 * @throws ApiError `labelReplaceCost`, from what it returns: the process waits for a value, however many there are
 */
export function labelReplacer(expr: LabelReplaceExpr): (labels: LabelSet) => LabelSet {
  const { source, destination, replacement } = expr;
  const regexp = compileRegExp(`^(?:${expr.regex})$`);
  const limit = Math.floor(maxCost / (regexp.testCost + regexp.findCost));
  return (labels) => {
    const text = labels.get(source);
    if (text.length > limit) throw apiError('labelReplaceCost', { length: text.length, limit });
    if (!regexp.test(text)) return labels;
    // The pattern matches the whole text or nothing, so that replacing all of its matches expands the replacement once.
    const value = expanded(() => regexp.replaceAll(text, replacement));
    if (value === undefined || value.length > maxValueLength)
      throw apiError('labelTooLong', { label: destination, limit: maxValueLength });
    return withoutEmpty(labels.with([[destination, value]]));
  };
}

/** Concatenated texts take no room until they are looked at; undefined where the engine can tell of no text so long. */
function expanded(expand: () => string): string | undefined {
  try {
    return expand();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
