import {
  compileEmbeddedPipes,
  type EmbeddedPipe,
  type Operator,
  type EmbeddedContext,
  type RowView,
} from '../logsql/index.js';

/**
 * Chains the pipes of a query. Under a sort, groups that compare equal may come in any order. In recordings of the real server, the last of
 * them comes first in descending order, as does the newest of several rows with the same time. Groups before such a sort are therefore
 * passed on from last to first.
 */
export function chainPipes(
  pipes: readonly EmbeddedPipe[],
  sink: (row: RowView) => boolean,
  context: EmbeddedContext,
): Operator {
  const at = pipes.findIndex((pipe, i) => pipe.kind === 'stats' && isFallingSort(pipes[i + 1]));
  if (at === -1) return compileEmbeddedPipes(pipes, sink, context);
  const rest = chainPipes(pipes.slice(at + 1), sink, context);
  const groups: RowView[] = [];
  const head = compileEmbeddedPipes(pipes.slice(0, at + 1), (row) => groups.push(row) > 0, context);
  return {
    push: (row) => head.push(row),
    finish: () => {
      head.finish();
      for (const row of groups.reverse()) if (!rest.push(row)) break;
      rest.finish();
    },
  };
}

function isFallingSort(pipe: EmbeddedPipe | undefined): boolean {
  return pipe?.kind === 'sort' && (pipe.by[0]?.desc ?? false) !== pipe.desc;
}
