import { apiError } from '../../core/base/errors/table.js';
import { printPlain, printSelector, printStage } from '../../core/logql/index.js';
import { labelFilter } from '../../core/logql/stages/label-filter.js';
import type { LogExpr, MatchOp, Stage } from '../../core/logql/ast.js';
import { Query } from '../../core/wire/api/request.js';
import type { Params } from '../../core/wire/api/params/index.js';
import { printWithout } from './outline.js';

/** A matcher of the selector, with the selector that remains without its label. */
export interface NarrowingLabel {
  readonly name: string;
  readonly op: MatchOp;
  readonly value: string;
  /** Empty if the selector has no other matcher. */
  readonly others: string;
}

/** A stage, with the query up to it and the query without it. */
export interface NarrowingStage {
  readonly text: string;
  /** The query with all stages before this one. */
  readonly before: string;
  readonly kind: 'line-filter' | 'label-filter' | 'other';
  /** The labels that a label filter reads. */
  readonly reads: readonly string[];
}

/** The steps by which a log query narrows down what it reads. */
export interface Narrowing {
  readonly selector: string;
  readonly labels: readonly NarrowingLabel[];
  readonly stages: readonly NarrowingStage[];
}

/**
 * The steps by which a log query leaves lines out, so that the page can find the one that leaves out all of them.
 * @throws LogqlError with Loki's text for a query it rejects
 */
export function narrowingOf(params: Params, dottedNames: 'reject' | 'accept'): Narrowing {
  const { ast } = new Query(params.get('query')?.[0] ?? '', dottedNames);
  if (ast.kind !== 'log') throw apiError('badRequest', { text: 'the steps are those of a log query' });
  const { selector, stages } = ast;
  return {
    selector: printSelector(selector),
    labels: selector.matchers.map(({ name, op, value }) => ({
      name,
      op,
      value,
      others: printWithout(selector, name),
    })),
    stages: stages.map((stage, index) => ({
      text: printStage(stage),
      before: printPlain({ ...ast, stages: stages.slice(0, index) } satisfies LogExpr),
      kind: stage.kind === 'line-filter' || stage.kind === 'label-filter' ? stage.kind : 'other',
      reads: labelsReadBy(stage),
    })),
  };
}

function labelsReadBy(stage: Stage): readonly string[] {
  return stage.kind === 'label-filter' ? [...new Set(labelFilter.names(stage))] : [];
}
