import type { RegexpStage } from '../ast.js';
import { compileRegExp } from '../regexp/index.js';
import type { Hints } from './hints.js';
import { innerLabelName } from './label-name.js';
import type { SlotTable } from './slot-table.js';
import type { RunStage } from './work-line.js';

/** `| regexp`: a label for every named group of the first match, empty for a group that did not match. */
export function compileRegexp({ pattern }: RegexpStage, slots: SlotTable, hints: Hints): RunStage {
  const compiled = compileRegExp(pattern);
  const groups = compiled.groupNames.map((name) => ({ name, slot: slots.pin(innerLabelName(name)) }));
  if (hints.skipsParsers) return () => true;
  return (work) => {
    work.charge(compiled.findCost);
    const match = compiled.exec(work.line);
    if (match === undefined) return true;
    for (const { name, slot } of groups) {
      const target = work.target(slot);
      if (!work.wants(target)) continue;
      work.takeText(target, match.named.get(name) ?? '');
      if (!work.passes(target)) return false;
      if (work.hasAllRequired) return true;
    }
    return true;
  };
}
