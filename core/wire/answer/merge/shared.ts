import type { AnswerStats } from '../types.js';

/** The statistics of an answer that cost nothing. */
export const noStats: AnswerStats = {
  linesProcessed: 0,
  bytesProcessed: 0,
  entriesReturned: 0,
  postFilterLines: 0,
  structuredMetadataBytes: 0,
  execTimeMs: 0,
  splits: 0,
};

/** Adds up the costs of the parts, except for the time: the longest one is used, because parts run in parallel. */
export function mergeStats(all: readonly AnswerStats[]): AnswerStats {
  return all.reduce(
    (sum, stats) => ({
      linesProcessed: sum.linesProcessed + stats.linesProcessed,
      bytesProcessed: sum.bytesProcessed + stats.bytesProcessed,
      entriesReturned: sum.entriesReturned + stats.entriesReturned,
      postFilterLines: sum.postFilterLines + stats.postFilterLines,
      structuredMetadataBytes: sum.structuredMetadataBytes + stats.structuredMetadataBytes,
      execTimeMs: Math.max(sum.execTimeMs, stats.execTimeMs),
      splits: sum.splits + stats.splits,
    }),
    noStats,
  );
}

/** The distinct warnings, in order of appearance. */
export function mergeWarnings(
  answers: readonly { readonly warnings: readonly string[] }[],
): readonly string[] {
  return [...new Set(answers.flatMap((answer) => answer.warnings))];
}
