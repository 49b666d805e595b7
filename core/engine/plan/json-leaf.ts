import type { Stage } from '../../logql/ast.js';
import { descriptorOf, looksAt } from '../../logql/stages/index.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import { plainName } from './metric-columns.js';

/** True when a stage is `| json` without expressions. */
export function isWholeJson(stage: Stage): boolean {
  return descriptorOf(stage).source(stage) === 'json-keys';
}

/** Names that `| json` makes of keys in one way only; undefined when there is another one among them. */
export function jsonNames(names: ReadonlySet<string>): readonly string[] | undefined {
  const made = [...names].filter((name) => !name.startsWith('__error') && name !== detectedLevelName);
  const arePlain = made.every((name) => /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && name === plainName(name));
  return arePlain && made.length > 0 ? made : undefined;
}

/** True when errors of the parser are dropped before anything looks at them. */
export function dropsErrors(stages: readonly Stage[], names: ReadonlySet<string>): boolean {
  if ([...names].some((name) => name.startsWith('__error'))) return false;
  const behind = stages.slice(stages.findIndex(isWholeJson) + 1);
  const first = behind.find((stage) => looksAt(stage, (name) => name.startsWith('__error')));
  return first !== undefined && descriptorOf(first).errors(first) === 'dropped';
}
