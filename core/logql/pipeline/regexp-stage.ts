import type { RegexpStage } from '../ast.js';
import { compileRegExp } from '../regexp/index.js';
import { labelName } from './label-name.js';
import type { SlotTable } from './slot-table.js';
import type { RunStage } from './work-line.js';

/**
 * `| regexp`: a label for every named group of the first match, empty for a group that did not match. Unlike other parsers it also runs when
 * the query uses no label.
 */
export function compileRegexp({ pattern }: RegexpStage, slots: SlotTable): RunStage {
  const compiled = compileRegExp(pattern);
  const groups = compiled.groupNames.map((name) => ({ name, slot: slots.pin(labelName(name)) }));
  return (work) => {
    work.charge(compiled.findCost);
    const match = compiled.exec(work.line);
    if (match === undefined) return true;
    for (const { name, slot } of groups) {
      const target = work.target(slot);
      if (!work.wants(target)) continue;
      work.takeText(target, match.named.get(name) ?? '');
      if (!work.passes(target)) return false;
    }
    return true;
  };
}
