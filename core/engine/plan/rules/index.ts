import { labelDeep } from './label/deep.js';
import { labelRules } from './label/index.js';
import { lineRules } from './line/index.js';
import { lineMixed } from './line/mixed.js';
import { metricRules } from './metric/index.js';
import { metricOff } from './query/off.js';
import { queryTooLong } from './query/too-long.js';
import type { RuleText } from './rule.js';
import { selectorRules } from './selector/index.js';
import { stageRules } from './stage.js';

/** Every rule of pushdown; those of one kind in the order they are tried. */
export const allRules = [
  ...selectorRules,
  ...lineRules,
  lineMixed,
  labelDeep,
  ...labelRules,
  ...Object.values(stageRules),
  ...metricRules,
  queryTooLong,
  metricOff,
] as const;

export type RuleId = (typeof allRules)[number]['id'];

/** A rule as it is told about. */
export type AppliedRule = RuleText<RuleId>;
