import type { ExplainedPart, PageExplanation } from './wire.js';

/** Describes where a part of a query is evaluated. */
export function placeOf(verdict: ExplainedPart['verdict']): string {
  switch (verdict) {
    case 'exact':
      return 'backend';
    case 'superset':
      return 'both';
    case 'none':
      return 'here';
  }
}

/** Describes in one sentence what does the work. */
export function planSentence({ reads, costText }: PageExplanation): string {
  const parts = reads.flatMap((read) => read.parts);
  const here = parts.filter(({ verdict }) => verdict !== 'exact').length;
  const who =
    parts.length === 0
      ? 'Nothing is read'
      : here === 0
        ? 'The backend does all of it'
        : `${here} of ${parts.length} parts are evaluated here`;
  return `${who}. What moves: ${costText}.`;
}
