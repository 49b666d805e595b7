import type { JSX } from 'preact';
import { figureTexts, type Figures } from '../../model/figures.js';
import { formatCounted, sentence } from '../../model/format.js';
import type { Candidate } from '../../model/plan-flow.js';
import { candidateTexts } from '../../model/plan-words.js';

/** The strategies by which the engine may read a range aggregation: the one that was used, and the others behind a fold. */
export function Candidates({ candidates }: { readonly candidates: readonly Candidate[] }): JSX.Element {
  const used = candidates.find(({ state }) => state === 'ran');
  return (
    <>
      {used !== undefined && (
        <p>
          Read as <b>{used.strategy}</b>
        </p>
      )}
      <details class="fold candidates">
        <summary>{formatCounted(candidates.length, 'candidate')} of the engine</summary>
        <ul>
          {candidates.map((candidate) => (
            <li key={candidate.strategy} class={candidate.state === 'ran' ? 'is-used' : ''}>
              <p>
                <b>{candidate.strategy}</b> <span class="tag">{candidateTexts[candidate.state]}</span>
              </p>
              <p class="quiet">
                {sentence(candidate.text.charAt(0).toUpperCase() + candidate.text.slice(1))}
              </p>
              <Cost name="Estimated" figures={candidate.estimated} />
              <Cost name="Took" figures={candidate.measured} />
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function Cost({
  name,
  figures,
}: {
  readonly name: string;
  readonly figures: Figures | undefined;
}): JSX.Element | null {
  const texts = figures === undefined ? [] : figureTexts(figures);
  if (texts.length === 0) return null;
  return (
    <p class="candidate-cost">
      {name}: {texts.join(', ')}
    </p>
  );
}
