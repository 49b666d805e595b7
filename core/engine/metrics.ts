import { rowThreadMetrics } from './metric/threads/row-threads.js';
import { learnedMetrics } from './memories.js';
import { patternMetrics } from './patterns/pattern-metrics.js';

export const engineMetrics = {
  line_threads: { type: 'gauge', help: 'Threads that evaluate expensive lines.', labels: [] },
  line_threads_waiting: { type: 'gauge', help: 'Lines that wait for one of these threads.', labels: [] },
  line_threads_lines_total: {
    type: 'counter',
    help: 'Lines evaluated by these threads, by outcome.',
    labels: ['outcome'],
  },
  ...rowThreadMetrics,
  ...learnedMetrics,
  ...patternMetrics,
  metric_strategies_total: {
    type: 'counter',
    help: 'Attempts to evaluate a range aggregation with a strategy, by outcome: `ran`, `failed`, or the reason why the next strategy was tried (docs/strategies.md).',
    labels: ['strategy', 'outcome'],
  },
} as const;
