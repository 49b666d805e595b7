import { counters, type Meters } from '../../base/meters.js';

export const patternMetrics = counters({
  patterns_detected_total: 'Patterns found for answers, without configured patterns.',
  patterns_source_lines_requested_total: 'Lines that the pattern search requested from the backend.',
  patterns_source_lines_scanned_total: 'Lines that the pattern search received from the backend.',
  patterns_source_lines_observed_total:
    'Lines used to find patterns: not too long or short, and at most as many per stream as in Loki.',
  patterns_windows_attempted_total: 'Time windows that the pattern search read.',
  patterns_windows_accepted_total: 'Time windows of the pattern search that had lines.',
  patterns_windows_capped_total:
    'Time windows of the pattern search with more lines than the first pass read.',
  patterns_second_pass_windows_total: 'Time windows of the pattern search that were read a second time.',
  patterns_mined_pre_merge_total: 'Patterns by stream and level, before equal patterns are merged.',
  patterns_mined_post_merge_total: 'Patterns after equal patterns are merged.',
  patterns_low_coverage_responses_total: 'Pattern answers whose patterns cover less than half of the lines.',
});

export type PatternMeters = Meters<typeof patternMetrics>;
