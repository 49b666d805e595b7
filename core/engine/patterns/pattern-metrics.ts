import type { Meters } from '../../base/meters.js';

export const patternMetrics = {
  patterns_detected_total: {
    type: 'counter',
    help: 'Patterns found for answers, without configured patterns.',
  },
  patterns_source_lines_requested_total: {
    type: 'counter',
    help: 'Lines that the pattern search requested from the backend.',
  },
  patterns_source_lines_scanned_total: {
    type: 'counter',
    help: 'Lines that the pattern search received from the backend.',
  },
  patterns_source_lines_observed_total: {
    type: 'counter',
    help: 'Lines used to find patterns: not too long or short, and at most as many per stream as in Loki.',
  },
  patterns_windows_attempted_total: {
    type: 'counter',
    help: 'Time windows that the pattern search read.',
  },
  patterns_windows_accepted_total: {
    type: 'counter',
    help: 'Time windows of the pattern search that had lines.',
  },
  patterns_windows_capped_total: {
    type: 'counter',
    help: 'Time windows of the pattern search with more lines than the first pass read.',
  },
  patterns_second_pass_windows_total: {
    type: 'counter',
    help: 'Time windows of the pattern search that were read a second time.',
  },
  patterns_mined_pre_merge_total: {
    type: 'counter',
    help: 'Patterns by stream and level, before equal patterns are merged.',
  },
  patterns_mined_post_merge_total: { type: 'counter', help: 'Patterns after equal patterns are merged.' },
  patterns_low_coverage_responses_total: {
    type: 'counter',
    help: 'Pattern answers whose patterns cover less than half of the lines.',
  },
} as const;

export type PatternMeters = Meters<typeof patternMetrics>;
