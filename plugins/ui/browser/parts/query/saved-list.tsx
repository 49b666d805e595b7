import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { savedQueries } from '../../store/saved-queries.js';
import { session } from '../../store/session.js';
import { useStore } from '../../store/store.js';
import { IconButton } from '../icon-button.js';
import { Icon } from '../icons.js';

/** The queries that were saved by name, and a form that saves the one in the editor. */
export function SavedList({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const saved = useStore(savedQueries.store, (state) => state.saved);
  const message = useStore(savedQueries.store, (state) => state.message);
  const form = useStore(session.store, (state) => state.form);
  const [name, write] = useState('');
  const file = useRef<HTMLInputElement>(null);
  return (
    <>
      <form
        class="save-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (savedQueries.save({ name, query: form.query, tenant: form.tenant })) write('');
        }}
      >
        <label class="field">
          <span>Name</span>
          <input
            type="text"
            maxLength={100}
            required
            value={name}
            onInput={(event) => write(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={form.query.trim() === '' || name.trim() === ''}>
          <Icon name="save" />
          Save this query
        </button>
      </form>
      <pre class="browser-query" tabIndex={0} role="group" aria-label="The query to save">
        {form.query === '' ? 'No query yet' : form.query}
      </pre>
      <p class="quiet" role="status">
        {message === '' ? 'Saved in this browser only; a file takes them to another.' : message}
      </p>
      {saved.length > 0 && (
        <ul class="past">
          {saved.map((one) => (
            <li key={one.name}>
              <button
                type="button"
                class="past-query"
                onClick={() => {
                  session.edit({ query: one.query, tenant: one.tenant });
                  onClose();
                }}
              >
                <strong>{one.name}</strong>
                <code>{one.query}</code>
              </button>
              <IconButton
                icon="run"
                name={`Run ${one.name}`}
                title="Run"
                onClick={() => {
                  session.run({ query: one.query, tenant: one.tenant });
                  onClose();
                }}
              />
              <IconButton
                icon="close"
                name={`Delete ${one.name}`}
                title="Delete"
                onClick={() => savedQueries.delete(one.name)}
              />
            </li>
          ))}
        </ul>
      )}
      <div class="dialog-end">
        <input
          ref={file}
          type="file"
          accept="application/json,.json"
          hidden
          aria-label="File of saved queries"
          onChange={(event) => {
            const [chosen] = event.currentTarget.files ?? [];
            if (chosen !== undefined) void savedQueries.import(chosen);
            event.currentTarget.value = '';
          }}
        />
        <button type="button" class="button" onClick={() => file.current?.click()}>
          Import
        </button>
        <button type="button" class="button" disabled={saved.length === 0} onClick={download}>
          Export
        </button>
      </div>
    </>
  );
}

function download(): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(savedQueries.export());
  link.download = 'ref-proxy-queries.json';
  link.click();
  // The browser has its own copy of the file by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
