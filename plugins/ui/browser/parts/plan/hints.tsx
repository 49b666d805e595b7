import type { JSX } from 'preact';
import type { Hint } from '../../model/wire.js';
import { session } from '../../store/session.js';
import { Icon } from '../icons.js';

/** Ways to write the query cheaper; one that rewrites the whole query can be run in one click. */
export function Hints({ hints }: { readonly hints: readonly Hint[] }): JSX.Element {
  return (
    <section>
      <h2>Make it cheaper</h2>
      {hints.length === 0 ? (
        <p class="quiet">No hints: this plan has nothing to save.</p>
      ) : (
        <ul class="hints">
          {hints.map(({ text, example, rewrite }) => (
            <li key={text}>
              <Icon name="hint" />
              <div>
                <p>
                  {text} {example !== undefined && <code>{example}</code>}
                </p>
                {rewrite !== undefined && (
                  <p class="hint-actions">
                    <button
                      type="button"
                      class="button"
                      onClick={() => session.run({ query: rewrite.query })}
                    >
                      <Icon name="run" /> Run it rewritten
                    </button>
                    <span class="quiet">
                      {rewrite.answers === 'same' ? 'The answers are the same.' : 'The answers may differ.'}
                    </span>
                  </p>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
