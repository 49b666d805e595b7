import type { AnswerStats } from '../types.js';

/** What an answer cost that nothing was done for. */
export const noStats: AnswerStats = {
  linesProcessed: 0,
  bytesProcessed: 0,
  entriesReturned: 0,
  postFilterLines: 0,
  structuredMetadataBytes: 0,
  execTimeMs: 0,
  splits: 0,
};

/** What the parts cost together: sums, and the longest time because parts run side by side. */
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

/** Every warning once, in the order they came. */
export function mergeWarnings(
  answers: readonly { readonly warnings: readonly string[] }[],
): readonly string[] {
  return [...new Set(answers.flatMap((answer) => answer.warnings))];
}
