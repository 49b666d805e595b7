import type { ExplainedPart, ExplainedRead, PageExplanation, RunReport } from './wire.js';
import { addFigures } from './figures.js';
import type { CandidateState } from './plan-flow.js';

export type Place = 'backend' | 'both' | 'here';

/** The place where a part of a query is evaluated. */
export function placeOf(verdict: ExplainedPart['verdict']): Place {
  switch (verdict) {
    case 'exact':
      return 'backend';
    case 'superset':
      return 'both';
    case 'none':
      return 'here';
  }
}

/** The work on a part of a query, by its place. */
export const placeTexts: Readonly<Record<Place, string>> = {
  backend: 'VictoriaLogs evaluates it.',
  both: 'VictoriaLogs narrows the rows down, the proxy checks the rest.',
  here: 'The proxy evaluates it on every row that it receives.',
};

const costTexts: Readonly<Record<PageExplanation['cost'], string>> = {
  none: 'VictoriaLogs is not asked.',
  page: 'It sends only the lines of the answer.',
  scan: 'It sends lines until enough of them have passed the steps in the proxy.',
  rows: 'It sends every selected line of the range, with the columns that the query uses.',
  statistics: 'It counts, and sends one number for each group and interval.',
};

/** Two sentences on where the work is done and what is sent. */
export function planSentence({ reads, cost }: PageExplanation): string {
  const parts = reads.flatMap((read) => read.parts);
  const here = parts.filter(({ verdict }) => verdict !== 'exact').length;
  const who =
    parts.length === 0
      ? 'No logs are read.'
      : here === 0
        ? 'VictoriaLogs does all of the search.'
        : `VictoriaLogs finds candidate lines; ${here} of ${parts.length} parts of the query also need the proxy.`;
  return `${who} ${costTexts[cost]}`;
}

/** A sentence about the work done in the proxy for every row; the stages follow, if there are any. */
export function hereSentence({ evaluatedHere }: Pick<ExplainedRead, 'evaluatedHere'>): string {
  return evaluatedHere.length === 0
    ? 'No stage of the query runs here.'
    : 'Stages that run here on every row:';
}

/** States of the engine's strategies, as labels. */
export const candidateTexts: Readonly<Record<CandidateState, string>> = {
  ran: 'Used',
  failed: 'Failed',
  'gave up': 'Given up',
  'not needed': 'Not needed',
  planned: 'May be used',
  excluded: 'Excluded',
};

export interface RunFigures {
  readonly calls: number;
  readonly rows: number;
  readonly bytes: number;
  readonly durationMs: number;
}

export function runFigures({ calls: sums, durationMs }: RunReport): RunFigures {
  const { calls = 0, rows = 0, bytes = 0 } = addFigures(sums.map((one) => ({ ...one, ms: one.durationMs })));
  return { calls, rows, bytes, durationMs };
}
