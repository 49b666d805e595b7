import type { LinePlace } from '../../../core/logql/lines/evaluator.js';

/** For tests whose lines are never too expensive for the event loop. */
export const noWorkers: LinePlace['workers'] = {
  run: () => Promise.reject(new Error('no line was to be evaluated apart')),
};
