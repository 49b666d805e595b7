import type { ParsedSource } from '../../../plan/metric-columns.js';
import { jsonLabels } from './json.js';
import { logfmtLabels } from './logfmt.js';
import type { ParsedLabels } from './parsed-labels.js';

export const parsedLabels: Readonly<Record<ParsedSource, ParsedLabels>> = {
  'json-keys': jsonLabels,
  'pair-keys': logfmtLabels,
};
