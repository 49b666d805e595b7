import { metricAbsent } from './absent.js';
import { metricGroups } from './groups.js';
import { metricIdentity } from './identity.js';
import { metricJson } from './json.js';
import { metricLevel } from './level.js';
import { metricStages } from './stages.js';
import { metricUnwrap } from './unwrap.js';

/** The rules about what the backend counts instead of sending rows, in the order they are tried. */
export const metricRules = [
  metricUnwrap,
  metricStages,
  metricIdentity,
  metricJson,
  metricLevel,
  metricAbsent,
  metricGroups,
] as const;
