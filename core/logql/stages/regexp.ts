import type { RegexpStage } from '../ast.js';
import { quoteGo } from '../../base/label-set.js';
import { compileRegExp } from '../regexp/index.js';
import { parseRegExp } from '../regexp/parse.js';
import { labelName, type SlotTable } from '../pipeline/slot.js';
import type { RunStage } from '../pipeline/work-line.js';
import { abort, regexpFault, stage } from '../syntax/log-rules.js';
import { grammar, stageWord, token } from '../syntax/tokens.js';
import { parserTraits, type StageDescriptor } from './stage.js';

/** `| regexp` */
export const regexp: StageDescriptor<RegexpStage> = {
  ...parserTraits,
  word: 'regexp',
  addRules() {
    grammar.rule(stage)([stageWord('regexp'), token.string], ([, pattern], span) => {
      checkRegexpStage(pattern);
      return { kind: 'regexp', pattern, span };
    });
  },
  print: ({ pattern }) => `| regexp ${quoteGo(pattern)}`,
  source: () => 'pieces',
  extraction: ({ pattern }) =>
    parseRegExp(pattern).isValid ? { from: 'groups', expression: pattern } : undefined,
  errors: () => 'kept',
  makes: ({ pattern }) => compileRegExp(pattern).groupNames,
  compile: ({ pattern }, { slots }) => compileRegexp(pattern, slots),
};

/** Refuses a `regexp` stage whose pattern is invalid, has no named group, or names one twice. */
function checkRegexpStage(pattern: string): void {
  const fault = regexpFault(pattern) ?? groupNamesFault(compileRegExp(pattern).groupNames);
  if (fault !== undefined) abort(`invalid regexp parser: ${fault}`);
}

function groupNamesFault(names: readonly string[]): string | undefined {
  if (names.length === 0) return 'at least one named capture must be supplied';
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  return repeated === undefined ? undefined : `duplicate extracted label name '${repeated}'`;
}

/**
 * `| regexp`: a label for every named group of the first match, empty for a group that did not match. Unlike other parsers it also runs if
 * the query uses no label.
 */
function compileRegexp(pattern: string, slots: SlotTable): RunStage {
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
