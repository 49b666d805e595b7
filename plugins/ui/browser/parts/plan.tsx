import type { JSX } from 'preact';
import { placeOf, planSentence } from '../model/plan-words.js';
import { layOutTree } from '../model/tree-text.js';
import type { ExplainedRead, PageExplanation } from '../model/wire.js';

/** How the query is answered, folded to one sentence. */
export function Plan({ explanation }: { readonly explanation: PageExplanation }): JSX.Element {
  const { tree, reads, formatted, histogram, names, namesText } = explanation;
  return (
    <details class="panel plan">
      <summary>
        <b>Plan</b> {planSentence(explanation)}
      </summary>
      <div class="plan-body">
        <Listing title="LogQL, formatted" text={formatted} />
        <Listing title="Syntax tree" text={layOutTree(tree)} />
        {reads.map((read) => (
          <Read key={read.logql} read={read} />
        ))}
        {histogram !== undefined && <Listing title="Histogram" text={histogram} />}
        {names !== 'unneeded' && <Listing title="Stored spellings of the names" text={namesText} />}
      </div>
    </details>
  );
}

function Listing({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <div class="listing">
      <h3 class="minor">{title}</h3>
      <pre tabindex={0} aria-label={title}>
        {text}
      </pre>
    </div>
  );
}

function Read({ read }: { readonly read: ExplainedRead }): JSX.Element {
  return (
    <>
      <Listing title="LogsQL that the backend is asked" text={read.logsql} />
      <div class="listing">
        <h3 class="minor">Part by part</h3>
        <ul class="plan-parts">
          {read.parts.map(({ part, verdict, rule, reason }, index) => (
            <li key={index}>
              <span class={`place place-${placeOf(verdict)}`}>{placeOf(verdict)}</span>
              <code>{part}</code>
              <span class="quiet">
                {reason} <small>({rule})</small>
              </span>
            </li>
          ))}
        </ul>
        <p class="quiet">
          Evaluated here on every row:{' '}
          {read.evaluatedHere.length === 0 ? 'nothing' : <code>{read.evaluatedHere.join(' ')}</code>}
        </p>
      </div>
    </>
  );
}
