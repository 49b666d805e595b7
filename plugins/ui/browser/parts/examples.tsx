import type { JSX } from 'preact';
import { session } from '../store/session.js';

const examples = [
  ['Every line', '{service_name=~".+"}'],
  ['Lines with a word', '{service_name=~".+"} |= "error"'],
  ['Warnings and errors', '{service_name=~".+"} | detected_level=~"warn|error"'],
  ['Lines per second and service', 'sum by (service_name) (rate({service_name=~".+"}[5m]))'],
] as const;

/** Shown in place of a result: example queries. */
export function Examples(): JSX.Element {
  return (
    <div class="examples">
      <h2>Begin with</h2>
      <ul>
        {examples.map(([title, query]) => (
          <li key={query}>
            <button type="button" class="example panel" onClick={() => session.run({ query })}>
              <span>{title}</span>
              <code>{query}</code>
            </button>
          </li>
        ))}
      </ul>
      <p class="quiet">
        In the editor <kbd>Ctrl</kbd> <kbd>Space</kbd> offers labels, values and functions; <kbd>Ctrl</kbd>{' '}
        <kbd>Enter</kbd> runs. <b>Labels</b> shows what there is to ask for.
      </p>
    </div>
  );
}
