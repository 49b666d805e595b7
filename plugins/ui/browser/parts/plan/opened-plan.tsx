import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatCount, formatMs } from '../../model/format.js';
import { flowOf } from '../../model/plan-flow.js';
import { planSentence } from '../../model/plan-words.js';
import type { AskedQuery, PageExplanation } from '../../model/wire.js';
import { openedPlans, type OpenedPlan } from '../../store/plan-runs.js';
import { session } from '../../store/session.js';
import { IconButton } from '../icon-button.js';
import { Icon } from '../icons.js';
import { CostTable } from './cost-table.js';
import { Experts } from './experts.js';
import { FlowPicture } from './flow-picture.js';
import { Hints } from './hints.js';

/** The plan of a query from the list of queries, with the figures of its slowest run. */
export function OpenedPlanView({
  opened: { asked, explanation },
}: {
  readonly opened: OpenedPlan;
}): JSX.Element {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), [asked]);
  return (
    <>
      <div class="result-head">
        <h2 ref={title} tabIndex={-1} class="opened-title">
          Why slow
        </h2>
        <p class="summary-line">
          <span>{formatMs(asked.max_ms)} ms at the longest</span>
          <span>{formatMs(asked.total_ms / asked.count)} ms on average</span>
          <span>asked {formatCount(asked.count)} times</span>
        </p>
        <button type="button" class="button" onClick={() => session.run({ query: asked.query })}>
          <Icon name="run" /> Run it
        </button>
        <button type="button" class="button" onClick={() => session.show('pipeline')}>
          Back to Queries
        </button>
        <IconButton icon="close" name="Close the plan" onClick={() => openedPlans.close()} />
      </div>
      {explanation === undefined ? (
        <p class="asking">Asking …</p>
      ) : typeof explanation === 'string' ? (
        <p class="panel empty" role="alert">
          {explanation}
        </p>
      ) : (
        <Explained asked={asked} explanation={explanation} />
      )}
    </>
  );
}

function Explained({
  asked,
  explanation,
}: {
  readonly asked: AskedQuery;
  readonly explanation: PageExplanation;
}): JSX.Element {
  const { slowest_run: run } = asked;
  const missing = 'No figures: only runs of the slowest queries are kept';
  return (
    <div class="plan panel">
      <section>
        <p class="plan-lead">{planSentence(explanation)}</p>
        <FlowPicture
          flow={flowOf(explanation, run, undefined)}
          end={{
            text:
              run === undefined
                ? 'Answered'
                : run.status < 400
                  ? 'Slowest run'
                  : `Failed with status ${run.status}`,
            ...(run === undefined ? {} : { note: 'The figures are those of this run.' }),
          }}
          missing={missing}
        />
      </section>
      {run !== undefined && (
        <section>
          <h2 class="visually-hidden">Cost</h2>
          <CostTable query={{ kind: 'answered', data: run }} histogram={undefined} />
        </section>
      )}
      <Hints hints={explanation.hints} />
      <Experts explanation={explanation} />
    </div>
  );
}
