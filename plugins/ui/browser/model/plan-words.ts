import type { ExplainedPart, ExplainedRead, PageExplanation, RunReport } from './wire.js';

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

/** Names and explanations of the places. */
export const placeTexts: Readonly<Record<Place, { readonly name: string; readonly text: string }>> = {
  backend: { name: 'VictoriaLogs', text: 'VictoriaLogs does this itself.' },
  both: { name: 'both', text: 'VictoriaLogs narrows it down; the proxy sorts out the rest.' },
  here: { name: 'proxy', text: 'The proxy does this on what comes.' },
};

const costTexts: Readonly<Record<PageExplanation['cost'], string>> = {
  none: 'Nothing is asked of it.',
  page: 'It sends no more lines than are shown.',
  scan: 'It sends lines of what it selected until enough of them have passed the steps that the proxy does.',
  rows: 'It sends every line of the selection in the range, with the columns that matter, and the proxy evaluates them.',
  statistics:
    'It counts, and sends one number for each group and interval; lines only where numbers do not tell.',
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
        : `VictoriaLogs searches; ${here} of ${parts.length} parts of the query need the proxy too.`;
  return `${who} ${costTexts[cost]}`;
}

/** A sentence about the work done in the proxy for every row; the stages follow, if there are any. */
export function hereSentence({ evaluatedHere }: Pick<ExplainedRead, 'evaluatedHere'>): string {
  return evaluatedHere.length === 0
    ? 'Nothing of the pipeline runs in the proxy.'
    : 'On every row that comes the proxy runs:';
}

export interface RunFigures {
  readonly calls: number;
  readonly rows: number;
  readonly bytes: number;
  readonly durationMs: number;
}

export function runFigures({ calls, durationMs }: RunReport): RunFigures {
  const sum = (of: 'calls' | 'rows' | 'bytes'): number => calls.reduce((all, one) => all + one[of], 0);
  return { calls: sum('calls'), rows: sum('rows'), bytes: sum('bytes'), durationMs };
}
