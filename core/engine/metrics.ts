import { lineWorkerMetrics, rowThreadMetrics } from './threads.js';
import { learnedMetrics } from './memories.js';
import { patternMetrics } from './patterns/pattern-metrics.js';

export const engineMetrics = {
  ...lineWorkerMetrics,
  ...rowThreadMetrics,
  ...learnedMetrics,
  ...patternMetrics,
  metric_strategies_total: {
    type: 'counter',
    help: 'Attempts to read a range aggregation of a metric query by a strategy, by outcome: `ran`, `failed`, or why it was left to the next strategy (docs/strategies.md).',
    labels: ['strategy', 'outcome'],
  },
} as const;
