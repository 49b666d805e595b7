import type { JSX } from 'preact';
import { fetchExplanation, fetchLabels, fetchValues, type NamesScope } from '../api.js';
import { rangeOf } from '../model/query/asked-range.js';
import { errorPosition, isUnparsed, markLine } from '../model/error-position.js';
import { hasTooManySeries, offersFor, wantsMatcher, type Offer } from '../model/query/offers.js';
import { nsRange, type TimeRange } from '../model/time-range.js';
import type { PageExplanation } from '../model/wire.js';
import type { Answered } from '../store/answers.js';
import { layout } from '../store/layout.js';
import { session, type Failed, type Tab } from '../store/session.js';
import { useStore } from '../store/store.js';
import { dataOf, useAnswer } from '../use-answer.js';
import { Plan } from './plan.js';
import { TabBar } from './tab-bar.js';

interface Properties {
  readonly failed: Failed;
  /** Selects a part of the query in the editor. */
  readonly onSelect: (start: number, end: number) => void;
}

/** A failed query: the server's error with ways out, and the plan, if the query has one. */
export function Failure({ failed, onSelect }: Properties): JSX.Element {
  const tab = useStore(session.store, (state) => state.tab);
  const zone = useStore(session.store, (state) => state.settings.zone);
  const hasPlan = !isUnparsed(failed.text) && failed.asked.query.trim() !== '';
  const explanation = dataOf(
    useAnswer(hasPlan ? failed : undefined, (signal) => fetchExplanation(failed.asked, 60, signal)),
  );
  const range = rangeOf(failed.asked, Date.now(), zone);
  if (explanation === undefined || typeof range === 'string')
    return <ErrorPanel failed={failed} range={range} onSelect={onSelect} />;
  const shown = tab === 'plan' ? 'plan' : 'result';
  return (
    <>
      <div class="result-head">
        <TabBar<Tab>
          id="tab"
          label="Answer"
          tabs={[
            ['result', 'Error'],
            ['plan', 'Plan'],
          ]}
          chosen={shown}
          onChoose={(name) => session.showTab(name)}
        />
      </div>
      <div id="tab-panel" class="outcome-body" role="tabpanel" aria-labelledby={`tab-${shown}`}>
        {shown === 'plan' ? (
          <Plan answered={unanswered(failed, explanation, range)} />
        ) : (
          <ErrorPanel failed={failed} range={range} onSelect={onSelect} />
        )}
      </div>
    </>
  );
}

/** A failed query as one with an empty answer, whose plan can be shown. */
function unanswered({ asked }: Failed, explanation: PageExplanation, range: TimeRange): Answered {
  return {
    kind: 'answered',
    asked,
    explanation,
    range,
    result: { kind: 'series', series: [], stepSeconds: 60 },
    tookMs: 0,
    stats: undefined,
    warnings: [],
    runs: { query: '', histogram: undefined },
  };
}

/** Labels by which a sum is most often wanted, in this order. */
const usualLabels = ['service_name', 'namespace', 'app', 'job', 'cluster', 'env', 'level'];
const maxLabels = 3;
const maxValues = 100;

/** The usual labels that have few values. */
async function labelsWithFewValues(scope: NamesScope): Promise<readonly string[]> {
  const known = new Set(await fetchLabels('', scope));
  const candidates = usualLabels.filter((name) => known.has(name)).slice(0, maxLabels);
  const counts = await Promise.all(
    candidates.map(async (name) => (await fetchValues(name, '', scope)).length),
  );
  return candidates.filter((_name, index) => (counts[index] ?? 0) <= maxValues);
}

function take(offer: Offer): void {
  if ('part' in offer) session.run(offer.part);
  else if ('change' in offer) void session.change(offer.change);
  else layout.show(offer.opens);
}

/** The server's error, the place in the query that it names, and what can be done with a click. */
function ErrorPanel({
  failed,
  range,
  onSelect,
}: Properties & { readonly range: TimeRange | string }): JSX.Element {
  const { text, asked } = failed;
  const position = errorPosition(text);
  const line = position === undefined ? undefined : markLine(asked.query, position);
  const labels = useAnswer(failed, (signal) =>
    (hasTooManySeries(text) || wantsMatcher(text)) && typeof range !== 'string'
      ? labelsWithFewValues({ tenant: asked.tenant, range: nsRange(range), signal })
      : Promise.resolve([]),
  );
  const offers = offersFor(text, range, Date.now(), dataOf(labels) ?? []);
  return (
    <div class="panel failure" role="alert">
      <p class="failure-text">{text}</p>
      {line !== undefined && (
        <pre class="failure-line">
          {line.before}
          <mark>{line.marked === '' ? ' ' : line.marked}</mark>
          {line.after}
        </pre>
      )}
      <p class="failure-actions">
        {offers.map((offer) => (
          <button key={offer.title} type="button" class="button is-offer" onClick={() => take(offer)}>
            {offer.title}
          </button>
        ))}
        {line !== undefined && (
          <button
            type="button"
            class="button"
            onClick={() => onSelect(line.offset, line.offset + line.marked.length)}
          >
            Select this place
          </button>
        )}
        <button type="button" class="button" onClick={() => session.run()}>
          Try again
        </button>
      </p>
    </div>
  );
}
