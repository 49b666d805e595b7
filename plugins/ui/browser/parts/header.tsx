import type { JSX } from 'preact';
import { formatAge } from '../model/format.js';
import type { LoadedPipeline } from '../model/wire.js';

/** Name, pipeline file and how the process is. */
export function Header({
  pipeline,
  problem,
}: {
  readonly pipeline: LoadedPipeline | undefined;
  readonly problem: string | undefined;
}): JSX.Element {
  return (
    <header class="header">
      {pipeline !== undefined && (
        <button type="button" class="skip" onClick={() => document.getElementById('query')?.focus()}>
          Go to the query
        </button>
      )}
      <h1 class="wordmark">
        <svg class="mark" viewBox="0 0 36 12" aria-hidden="true">
          <path d="M4 6h28" />
          <circle cx="6" cy="6" r="3.5" />
          <circle class="open" cx="18" cy="6" r="3.5" />
          <circle cx="30" cy="6" r="3.5" />
        </svg>
        ref-proxy
      </h1>
      {pipeline !== undefined && (
        <p class="facts">
          <Health notReady={pipeline.notReady} problem={problem} />
          <span class="file" title={pipeline.file}>
            {shortPath(pipeline.file)}
          </span>
          <span>up {formatAge(pipeline.nowMs - pipeline.startedMs)}</span>
        </p>
      )}
      {pipeline === undefined && problem !== undefined && (
        <p class="facts" role="alert">
          {problem}
        </p>
      )}
    </header>
  );
}

function Health({
  notReady,
  problem,
}: {
  readonly notReady: readonly string[];
  readonly problem: string | undefined;
}): JSX.Element {
  const isWell = problem === undefined && notReady.length === 0;
  const text = problem ?? (isWell ? 'ready' : `not ready: ${notReady.join('; ')}`);
  return (
    <span class={isWell ? 'health' : 'health is-ill'} role="status">
      {text}
    </span>
  );
}

/** The last two parts of a path: the folder and the file. */
function shortPath(path: string): string {
  return path.split('/').slice(-2).join('/');
}
