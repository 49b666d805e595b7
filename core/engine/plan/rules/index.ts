import { labelDeep, labelRules } from './label.js';
import { lineMixed, lineRules } from './line.js';
import { metricRules } from './metric.js';
import { metricOff, queryTooLong, type RuleText, selectorRules } from './rule.js';
import { stageRules } from './stage.js';

/** All pushdown rules; those of one kind in the order in which they are tried. */
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

/** A rule, as documented. */
export type AppliedRule = RuleText<RuleId>;
