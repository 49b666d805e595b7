import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { failureText, fetchLabels, fetchValues } from '../api.js';
import { formatCount } from '../model/format.js';
import { session } from '../store/session.js';
import { useStore } from '../store/store.js';
import { Dialog } from './dialog.js';
import { Icon } from './icons.js';

const maxShown = 200;

type Listing = readonly string[] | { readonly problem: string } | undefined;

/** Labels and their values, for the time range and tenant in the fields; a selected value is added to the query. */
export function LabelBrowser({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [label, choose] = useState<string>();
  const query = useStore(session.store, (state) => state.form.query);
  const labels = useListing(() => fetchLabels('', session.scope()), '');
  const values = useListing(
    () => (label === undefined ? Promise.resolve([]) : fetchValues(label, '', session.scope())),
    label,
  );
  const names = Array.isArray(labels) ? (labels as readonly string[]) : [];
  return (
    <Dialog title="Labels" onClose={onClose}>
      <p class="quiet">Of the time and tenant in the fields. A value that you pick goes into the query.</p>
      <div class="browser">
        <List
          title="Label"
          listing={labels}
          nothing="No labels here: another range, or another tenant?"
          isChosen={(name) => name === label}
          onPick={choose}
        />
        {label === undefined ? (
          <p class="empty">{names.length > 0 ? 'Pick a label to see its values.' : ''}</p>
        ) : (
          <List
            key={label}
            title={`Values of ${label}`}
            listing={values}
            nothing="No values in this range."
            isChosen={() => false}
            onPick={(value) => void session.pick(label, value)}
          />
        )}
      </div>
      <pre class="browser-query" tabIndex={0} aria-label="The query so far">
        {query === '' ? 'No query yet' : query}
      </pre>
      <div class="dialog-end">
        <button type="button" class="button" onClick={onClose}>
          Edit
        </button>
        <button
          type="button"
          class="primary"
          onClick={() => {
            session.run();
            onClose();
          }}
        >
          <Icon name="run" />
          Run
        </button>
      </div>
    </Dialog>
  );
}

function useListing(read: () => Promise<readonly string[]>, key: string | undefined): Listing {
  const [listing, set] = useState<Listing>();
  useEffect(() => {
    let isCurrent = true;
    set(undefined);
    read().then(
      (found) => isCurrent && set(found),
      (error: unknown) => isCurrent && set({ problem: failureText(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return listing;
}

function List({
  title,
  listing,
  nothing,
  isChosen,
  onPick,
}: {
  readonly title: string;
  readonly listing: Listing;
  readonly nothing: string;
  readonly isChosen: (name: string) => boolean;
  readonly onPick: (name: string) => void;
}): JSX.Element {
  const [search, setSearch] = useState('');
  if (listing === undefined) return <p class="empty">Asking …</p>;
  if ('problem' in listing) return <p class="empty alert">{listing.problem}</p>;
  const found = listing.filter((name) => name.toLowerCase().includes(search.toLowerCase()));
  return (
    <section class="browser-list" aria-label={title}>
      <label class="search">
        <Icon name="search" />
        <span class="visually-hidden">Search in {title}</span>
        <input
          type="search"
          placeholder={`${title} (${formatCount(listing.length)})`}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      {found.length === 0 ? (
        <p class="empty">{listing.length === 0 ? nothing : 'None with this text.'}</p>
      ) : (
        <ul>
          {found.slice(0, maxShown).map((name) => (
            <li key={name}>
              <button type="button" aria-pressed={isChosen(name)} onClick={() => onPick(name)}>
                {name === '' ? '(empty)' : name}
              </button>
            </li>
          ))}
        </ul>
      )}
      {found.length > maxShown && (
        <p class="quiet">
          The first {maxShown} of {formatCount(found.length)}: search for others.
        </p>
      )}
    </section>
  );
}
