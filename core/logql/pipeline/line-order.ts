import type { Stage } from '../ast.js';

/**
 * The order in which Loki runs stages: line filters move before stages that it considers not to change the line, back to the last label
 * filter, `line_format` or `unpack`. Loki wrongly counts `decolorize` among them, and this follows it.
 */
export function orderStages(stages: readonly Stage[]): readonly Stage[] {
  const ordered: Stage[] = [];
  let filters: Stage[] = [];
  let others: Stage[] = [];
  const flush = (): void => {
    ordered.push(...filters, ...others);
    filters = [];
    others = [];
  };
  for (const stage of stages) {
    switch (stage.kind) {
      case 'line-filter':
        filters.push(stage);
        break;
      case 'label-filter':
      case 'line-format':
      case 'unpack':
        others.push(stage);
        flush();
        break;
      case 'json':
      case 'logfmt':
      case 'regexp':
      case 'pattern':
      case 'decolorize':
      case 'label-format':
      case 'drop':
      case 'keep':
        others.push(stage);
    }
  }
  flush();
  return ordered;
}
