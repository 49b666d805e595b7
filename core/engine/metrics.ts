import { rowThreadMetrics } from './metric/threads/row-threads.js';
import { lineWorkerMetrics } from './threads.js';
import { learnedMetrics } from './memories.js';
import { patternMetrics } from './patterns/pattern-metrics.js';

export const engineMetrics = {
  ...lineWorkerMetrics,
  ...rowThreadMetrics,
  ...learnedMetrics,
  ...patternMetrics,
  metric_strategies_total: {
    type: 'counter',
    help: 'Attempts to evaluate a range aggregation with a strategy, by outcome: `ran`, `failed`, or the reason why the next strategy was tried (docs/strategies.md).',
    labels: ['strategy', 'outcome'],
  },
} as const;
