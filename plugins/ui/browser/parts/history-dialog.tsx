import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatMoment } from '../model/format.js';
import { pastOf } from '../model/history.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { Dialog } from './dialog.js';
import { IconButton } from './icon-button.js';
import { Icon } from './icons.js';
import { SavedList } from './query/saved-list.js';

/** The queries that were run and those that were saved. */
export function HistoryDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [shown, show] = useState<'history' | 'saved'>('history');
  return (
    <Dialog title="Queries" onClose={onClose}>
      <div class="choices" role="group" aria-label="Queries">
        {(['history', 'saved'] as const).map((name) => (
          <button
            key={name}
            type="button"
            class="button is-quiet"
            aria-pressed={shown === name}
            onClick={() => show(name)}
          >
            {name === 'history' ? 'Recent' : 'Saved'}
          </button>
        ))}
      </div>
      {shown === 'history' ? <PastList onClose={onClose} /> : <SavedList onClose={onClose} />}
    </Dialog>
  );
}

/** The history of queries of the tenant in the field, which is stored in this browser. */
function PastList({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const tenant = useStore(session.store, (state) => state.form.tenant);
  const past = useStore(session.store, (state) => state.past);
  const zone = useStore(session.store, (state) => state.settings.zone);
  const [search, setSearch] = useState('');
  const all = pastOf(past, tenant);
  const shown = all.filter(({ query }) => query.toLowerCase().includes(search.toLowerCase()));
  return (
    <>
      <p class="quiet">
        {tenant === '' ? 'Queries without a tenant' : `Queries of ${tenant}`}, stored in this browser only.
      </p>
      <label class="search">
        <Icon name="search" />
        <span class="visually-hidden">Search</span>
        <input
          type="search"
          placeholder="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      {shown.length === 0 ? (
        <p class="empty">{all.length === 0 ? 'No query was run yet.' : 'No query has this text.'}</p>
      ) : (
        <ul class="past">
          {shown.map(({ query, atMs }) => (
            <li key={query}>
              <button
                type="button"
                class="past-query"
                onClick={() => {
                  session.edit({ query });
                  onClose();
                }}
              >
                <code>{query}</code>
                <span class="quiet">{formatMoment(atMs, zone)}</span>
              </button>
              <IconButton
                icon="run"
                name="Run this query"
                onClick={() => {
                  session.run({ query });
                  onClose();
                }}
              />
              <IconButton icon="close" name="Forget this query" onClick={() => session.forget(query)} />
            </li>
          ))}
        </ul>
      )}
      {all.length > 0 && (
        <button type="button" class="button" onClick={() => session.forget()}>
          Forget all
        </button>
      )}
    </>
  );
}
