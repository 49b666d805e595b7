import { apiError } from '../../base/errors/table.js';
import type { ApiError } from '../../base/errors/api-error.js';
import type { LabelSet } from '../../base/labels/label-set.js';
import { labelsText } from '../../base/labels/labels-text.js';

/** The error of a metric query over an entry with `__error__` (docs/protocol/errors-and-limits.md#pipeline-errors). */
export function pipelineError(error: string, labels: LabelSet): ApiError {
  return apiError('pipelineError', { error, series: labelsText(labels) });
}
