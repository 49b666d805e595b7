import type { Meters } from '../../base/meters.js';

export const patternMetrics = {
  patterns_detected_total: {
    type: 'counter',
    help: 'Patterns found for answers; configured ones do not count.',
  },
  patterns_source_lines_requested_total: {
    type: 'counter',
    help: 'Lines that the search for patterns asked the backend for.',
  },
  patterns_source_lines_scanned_total: {
    type: 'counter',
    help: 'Lines that the search for patterns got from the backend.',
  },
  patterns_source_lines_observed_total: {
    type: 'counter',
    help: 'Lines that patterns were learnt from: not too long or short, and not more of a stream than Loki would take.',
  },
  patterns_windows_attempted_total: {
    type: 'counter',
    help: 'Windows of time that the search for patterns read.',
  },
  patterns_windows_accepted_total: { type: 'counter', help: 'Windows of them that had lines.' },
  patterns_windows_capped_total: {
    type: 'counter',
    help: 'Windows of them with more lines than were read at first.',
  },
  patterns_second_pass_windows_total: {
    type: 'counter',
    help: 'Windows of them that were read a second time.',
  },
  patterns_mined_pre_merge_total: {
    type: 'counter',
    help: 'Patterns found by stream and level, before equal ones were added up.',
  },
  patterns_mined_post_merge_total: { type: 'counter', help: 'Patterns after equal ones were added up.' },
  patterns_low_coverage_responses_total: {
    type: 'counter',
    help: 'Answers with patterns that were found in less than half of the lines.',
  },
} as const;

export type PatternMeters = Meters<typeof patternMetrics>;
