import type { JSX } from 'preact';
import { session } from '../store/session.js';
import { errorPosition, markLine } from '../model/error-position.js';

interface Properties {
  /** The server's text. */
  readonly text: string;
  readonly query: string;
  /** Selects a part of the query in the editor. */
  readonly onSelect: (start: number, end: number) => void;
}

/** The server's error, with the position in the query that it names. */
export function Failure({ text, query, onSelect }: Properties): JSX.Element {
  const position = errorPosition(text);
  const line = position === undefined ? undefined : markLine(query, position);
  return (
    <div class="panel failure" role="alert">
      <p class="failure-text">{text}</p>
      {line !== undefined && (
        <>
          <pre class="failure-line">
            {line.before}
            <mark>{line.marked === '' ? ' ' : line.marked}</mark>
            {line.after}
          </pre>
        </>
      )}
      <p class="failure-actions">
        {line !== undefined && (
          <button
            type="button"
            class="button"
            onClick={() => onSelect(line.offset, line.offset + line.marked.length)}
          >
            Go to that place
          </button>
        )}
        <button type="button" class="button" onClick={() => session.run()}>
          Try again
        </button>
      </p>
    </div>
  );
}
