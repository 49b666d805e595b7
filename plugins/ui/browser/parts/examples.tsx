import type { JSX } from 'preact';

const examples = [
  ['Every line', '{service_name=~".+"}'],
  ['Lines with a word', '{service_name=~".+"} |= "error"'],
  ['Lines by level', '{service_name=~".+"} | detected_level=~"warn|error"'],
  ['Lines per second and service', 'sum by (service_name) (rate({service_name=~".+"}[5m]))'],
] as const;

/** What stands where the result will be: queries to begin with. */
export function Examples({ onPick }: { readonly onPick: (query: string) => void }): JSX.Element {
  return (
    <div class="examples">
      <p class="quiet">To begin with:</p>
      <ul>
        {examples.map(([title, query]) => (
          <li key={query}>
            <button type="button" class="example" onClick={() => onPick(query)}>
              <span>{title}</span>
              <code>{query}</code>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
