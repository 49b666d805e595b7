import type { Stage } from '../ast.js';
import { errorAt } from '../error.js';
import { descriptorOf } from '../stages/index.js';

/**
 * The most alternatives (`a|b|c`, `"a" or "b"`) in all line and label filters of a query, and the most labels that its `label_format` stages
 * make. Each is looked at several times in one turn, when a query is planned and when its pipeline is built: some 10 ms for so many, 30 ms
 * in a process that has just started.
 */
export const maxAlternatives = 2_000;
export const maxFormattedLabels = 500;

/**
 * Refuses queries whose stages would hold the event loop.
 * @throws LogqlError
 */
export function checkStageLimits(stages: Iterable<Stage>): void {
  let alternatives = 0;
  let labels = 0;
  for (const stage of stages) {
    const size = descriptorOf(stage).size(stage);
    alternatives += size.alternatives ?? 0;
    labels += size.formattedLabels ?? 0;
  }
  if (alternatives > maxAlternatives)
    throw errorAt(
      `the filters of a query may have ${maxAlternatives} alternatives in all, and these have ${alternatives}`,
    );
  if (labels > maxFormattedLabels)
    throw errorAt(
      `label_format may make ${maxFormattedLabels} labels in all of a query, and this makes ${labels}`,
    );
}
