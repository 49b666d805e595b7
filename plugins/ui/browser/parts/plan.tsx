import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatCounted } from '../model/format.js';
import { flowOf } from '../model/plan-flow.js';
import { planSentence } from '../model/plan-words.js';
import { fetchRun } from '../api.js';
import type { Answered } from '../store/answers.js';
import { dataOf, useAnswer } from '../use-answer.js';
import { ComparePlans } from './plan/compare-plans.js';
import { CostTable, type AskedRun } from './plan/cost-table.js';
import { Experts } from './plan/experts.js';
import { FlowPicture, type FlowEnd } from './plan/flow-picture.js';
import { Hints } from './plan/hints.js';

/** The execution of the query: the work of each side with its figures, its cost, ways to make it cheaper, and another plan beside it. */
export function Plan({ answered }: { readonly answered: Answered }): JSX.Element {
  const { explanation, runs, asked } = answered;
  const query = useAnswer(runs.query, (signal) => fetchRun(runs.query, signal));
  const histogram = useAnswer(runs.histogram, (signal) => fetchRun(runs.histogram ?? '', signal));
  const [isComparing, compare] = useState(false);
  const flow = flowOf(explanation, dataOf(query), asked.limit);
  return (
    <div class="plan panel">
      <section>
        <h2 class="visually-hidden">From VictoriaLogs to the answer</h2>
        <div class="plan-head">
          <p class="plan-lead">{planSentence(explanation)}</p>
          <button
            type="button"
            class={isComparing ? 'button is-on' : 'button'}
            aria-expanded={isComparing}
            onClick={() => compare(!isComparing)}
          >
            Compare with …
          </button>
        </div>
        {isComparing ? (
          <ComparePlans answered={answered} flow={flow} end={endOf(answered)} missing={missingText(query)} />
        ) : (
          <FlowPicture flow={flow} end={endOf(answered)} missing={missingText(query)} />
        )}
      </section>
      <section>
        <h2 class="visually-hidden">Cost</h2>
        <CostTable query={query} histogram={runs.histogram === undefined ? undefined : histogram} />
      </section>
      <Hints hints={explanation.hints} />
      <Experts explanation={explanation} />
    </div>
  );
}

function endOf({ result }: Answered): FlowEnd {
  return {
    text:
      result.kind === 'logs'
        ? formatCounted(result.rows.length, 'line')
        : formatCounted(result.series.length, 'series', 'series'),
  };
}

function missingText(run: AskedRun): string {
  return run.kind === 'asking' ? '…' : 'No figures of this run';
}
