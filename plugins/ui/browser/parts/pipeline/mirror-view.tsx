import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { failureText, fetchMirrored } from '../../api.js';
import { formatCount, formatMoment } from '../../model/format.js';
import { mirrorState, outcomeShares, paramTexts, queryOf, shownDifferences } from '../../model/mirrored.js';
import type { LoadedPipeline, Mirrored, MirroredDifference } from '../../model/wire.js';
import { session } from '../../store/session.js';
import { useStore } from '../../store/store.js';
import { CopyButton } from '../copy-button.js';

const refreshMs = 5_000;

/** Requests mirrored to a second Loki API: how many answers are equal, and the latest differences side by side. */
export function MirrorView({ pipeline }: { readonly pipeline: LoadedPipeline }): JSX.Element {
  const state = mirrorState(pipeline);
  return (
    <section aria-labelledby="mirror-title">
      <div class="section-head">
        <h2 id="mirror-title">Mirror</h2>
        <p class="quiet">
          A share of the requests also goes to a second Loki API, and the answers are compared.
        </p>
      </div>
      {state === 'on' ? <Findings /> : <TurnOn isThere={state === 'off'} />}
    </section>
  );
}

const example = `stages:
  - use: mirror # first: it sees the requests and answers of clients
    with: { url: 'http://loki:3100', percent: 5 }
  - use: tenancy
  # ... the other stages`;

function TurnOn({ isThere }: { readonly isThere: boolean }): JSX.Element {
  return (
    <div class="panel turn-on">
      <p>
        {isThere
          ? 'The stage mirror is in the pipeline, but switched off: set its options url and percent.'
          : 'This pipeline has no stage mirror. Add it as the first stage of the pipeline file:'}
      </p>
      <div class="listing-head">
        <span class="quiet">Clients do not notice it: a request is sent after its answer went out.</span>
        <CopyButton text={example} label="Copy the example" short="Copy" />
      </div>
      <pre class="listing" tabIndex={0} role="group" aria-label="Example">
        {example}
      </pre>
      <p class="quiet">
        More in <code>plugins/mirror/README.md</code> and <code>docs/compare.md</code>.
      </p>
    </div>
  );
}

function Findings(): JSX.Element {
  const found = useMirrored();
  const [onlyUnknown, setOnlyUnknown] = useState(false);
  if (found === undefined) return <p class="asking">Asking …</p>;
  if (typeof found === 'string')
    return (
      <p class="panel empty" role="alert">
        {found}
      </p>
    );
  const shown = shownDifferences(found, onlyUnknown);
  return (
    <div class="mirror">
      <dl class="panel outcomes">
        {outcomeShares(found).map(({ name, count, share, kind }) => (
          <div key={name} class={`outcome-${kind}${count > 0 ? ' is-some' : ''}`}>
            <dt>{name}</dt>
            <dd>
              <b>{share === '' ? formatCount(count) : share}</b>
              {share !== '' && <span class="quiet"> {formatCount(count)}</span>}
            </dd>
          </div>
        ))}
      </dl>
      <div class="section-head">
        <h3>Latest differences</h3>
        {found.data.length > 0 && (
          <button
            type="button"
            class={onlyUnknown ? 'button is-quiet is-on' : 'button is-quiet'}
            aria-pressed={onlyUnknown}
            onClick={() => setOnlyUnknown(!onlyUnknown)}
          >
            Only unexplained
          </button>
        )}
      </div>
      {shown.length === 0 ? (
        <p class="panel empty">
          {found.data.length === 0 ? 'No differences.' : 'All differences are explained.'}
        </p>
      ) : (
        <ol class="differences">
          {shown.map((one, index) => (
            <DifferenceItem key={`${one.atMs} ${index}`} difference={one} />
          ))}
        </ol>
      )}
    </div>
  );
}

/** The findings of the mirror, every few seconds; an error text if there are none, undefined while loading. */
function useMirrored(): Mirrored | string | undefined {
  const [found, setFound] = useState<Mirrored | string>();
  useEffect(() => {
    const look = (): void => {
      if (document.hidden) return;
      fetchMirrored(AbortSignal.timeout(refreshMs)).then(setFound, (error: unknown) =>
        setFound(failureText(error)),
      );
    };
    const timer = setInterval(look, refreshMs);
    look();
    return () => clearInterval(timer);
  }, []);
  return found;
}

function DifferenceItem({ difference }: { readonly difference: MirroredDifference }): JSX.Element {
  const zone = useStore(session.store, (state) => state.settings.zone);
  const { atMs, tenant, request, kind, where, reference, candidate, known } = difference;
  const query = queryOf(difference);
  return (
    <li class="panel difference">
      <p class="difference-head">
        <b>{kind}</b>
        {where !== undefined && (
          <span>
            in <code>{where}</code>
          </span>
        )}
        <span class={known === undefined ? 'tag is-unknown' : 'tag'}>
          {known === undefined ? 'unexplained' : 'explained'}
        </span>
        <time class="quiet" dateTime={new Date(atMs).toISOString()}>
          {formatMoment(atMs, zone)}
        </time>
        {tenant !== '' && <span class="quiet">tenant {tenant}</span>}
      </p>
      <p>
        <code>{request.path}</code>
        {query !== undefined && (
          <>
            {' '}
            <code class="difference-query">{query}</code>
          </>
        )}
      </p>
      <dl class="sides">
        <div>
          <dt>Mirror</dt>
          <dd>
            <pre tabIndex={0} role="group" aria-label="Value of the mirror">
              {reference}
            </pre>
          </dd>
        </div>
        <div>
          <dt>This proxy</dt>
          <dd>
            <pre tabIndex={0} role="group" aria-label="Value of this proxy">
              {candidate}
            </pre>
          </dd>
        </div>
      </dl>
      {known !== undefined && (
        <p>
          <span class="quiet">Reason, as in docs/differences.md:</span> {known}
        </p>
      )}
      <div class="difference-end">
        <details class="fold">
          <summary>Parameters</summary>
          <ul>
            {paramTexts(difference).map((text) => (
              <li key={text}>
                <code>{text}</code>
              </li>
            ))}
          </ul>
        </details>
        {query !== undefined && (
          <button
            type="button"
            class="button"
            onClick={() => {
              session.edit({ query });
              session.show('query');
            }}
          >
            Open the query
          </button>
        )}
      </div>
    </li>
  );
}
