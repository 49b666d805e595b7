import type { LabelSet } from '../../labels/label-set.js';
import { compileRegExp } from '../../regexp/index.js';
import type { LabelReplaceExpr } from '../ast.js';
import { withoutEmpty } from './grouping.js';

/**
 * What `label_replace` makes of the labels of a series: where the whole source label matches, the destination becomes the
 * replacement with `$1` and `${name}` filled in, or goes when that is empty, as all labels without a value do.
 * @throws RegExpSyntaxError; the parser refuses such a query before
 */
export function labelReplacer(expr: LabelReplaceExpr): (labels: LabelSet) => LabelSet {
  const { source, destination, replacement } = expr;
  const regexp = compileRegExp(`^(?:${expr.regex})$`);
  return (labels) => {
    const text = labels.get(source);
    if (!regexp.test(text)) return labels;
    // The pattern matches the whole text or nothing, so that replacing all of its matches expands the replacement once.
    const value = regexp.replaceAll(text, replacement);
    return withoutEmpty(labels.with([[destination, value]]));
  };
}
