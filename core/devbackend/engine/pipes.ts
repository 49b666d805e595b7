import type { LogsqlPipe, StatsPipe } from '../../logsql/index.js';
import { LogsqlError, MapRow, printPipe, type RowView } from '../../logsql/index.js';
import { compileFilter } from '../../logsql/eval/filter.js';
import { MapOperator, type Operator, type PipeContext } from '../../logsql/ops/operator.js';
import { cutOperator, projectOperator } from '../../logsql/ops/shape.js';
import { sortOperator } from '../../logsql/ops/sort.js';

/** Builds the operators of a list of pipes in front of `sink`. */
export function compilePipes(pipes: readonly LogsqlPipe[], sink: Operator, context: PipeContext): Operator {
  return pipes.reduceRight((next, pipe) => operatorOf(pipe, context, next), sink);
}

function operatorOf(pipe: LogsqlPipe, context: PipeContext, next: Operator): Operator {
  switch (pipe.kind) {
    case 'filter': {
      const test = compileFilter(pipe.filter, { nowNs: context.nowNs ?? 0n });
      return new MapOperator((row) => (test(row) ? row : undefined), next);
    }
    case 'fields':
    case 'delete':
      return projectOperator(pipe, next);
    case 'limit':
    case 'offset':
      return cutOperator(pipe, next);
    case 'sort':
    case 'first':
    case 'last':
      return sortOperator(pipe, context, next);
    case 'stats':
      if (pipe.functions.every(({ name }) => name === 'count')) return new CountOperator(pipe, next);
      throw new LogsqlError(`the pipe ${printPipe(pipe)} is not supported`);
    default:
      throw new LogsqlError(`the pipe ${printPipe(pipe)} is not supported`);
  }
}

class CountOperator implements Operator {
  readonly #counts = new Map<string, [Map<string, string>, number]>();
  constructor(
    readonly pipe: StatsPipe,
    readonly next: Operator,
  ) {}

  push(row: RowView): boolean {
    const group = new Map(this.pipe.by.map(({ field }) => [field, row.get(field)]));
    const key = JSON.stringify([...group.values()]);
    const entry = this.#counts.get(key) ?? [group, 0];
    entry[1]++;
    this.#counts.set(key, entry);
    return true;
  }

  finish(): void {
    if (this.#counts.size === 0 && this.pipe.by.length === 0) this.#counts.set('', [new Map<string, string>(), 0]);
    for (const [group, count] of this.#counts.values()) {
      for (const { as } of this.pipe.functions) group.set(as, String(count));
      if (!this.next.push(new MapRow(group))) break;
    }
    this.next.finish();
  }
}
