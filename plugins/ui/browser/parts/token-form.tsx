import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { token } from '../api.js';

/** Asks for the admin token; nothing else is shown without it. */
export function TokenForm({ onToken }: { readonly onToken: () => void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    token.keep(field.current?.value ?? '');
    onToken();
  };
  return (
    <form class="panel token-form" onSubmit={submit}>
      <h2>Admin token</h2>
      <p class="quiet">
        This proxy was started with <code>-server.admin-auth-token</code>. The token stays in this tab.
      </p>
      <label class="field">
        <span>Token</span>
        <input ref={field} type="password" autocomplete="current-password" required autofocus />
      </label>
      <button class="primary" type="submit">
        Open
      </button>
      {token.read() !== '' && (
        <p class="alert" role="alert">
          The proxy refused the last token.
        </p>
      )}
    </form>
  );
}
