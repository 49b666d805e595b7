import type { CutPipe, FieldRef, MovePipe, ProjectPipe } from '../ast.js';
import { MapRow, copyFields } from '../row.js';
import { ProjectedRow, timeNsOf } from './derived-row.js';
import { mapRows } from './operator.js';
import type { Operator } from './operator.js';

/** `fields`. */
export function projectOperator({ fields }: ProjectPipe, next: Operator): Operator {
  if (fields.some((field) => field.kind === 'prefix' && field.prefix === '')) return next;
  return mapRows((row) => new ProjectedRow(row, fields), next);
}

/** `copy` and `rename`. */
export function moveOperator(pipe: MovePipe, next: Operator): Operator {
  const remove = pipe.kind === 'rename';
  return mapRows((row) => {
    const fields = copyFields(row);
    for (const { from, to } of pipe.pairs)
      for (const [source, target] of movesOf(from, to, fields)) move(fields, source, target, remove);
    return rowOf(fields);
  }, next);
}

function movesOf(from: FieldRef, to: FieldRef, fields: ReadonlyMap<string, string>): [string, string][] {
  const target = to.kind === 'name' ? to.name : to.prefix;
  if (from.kind === 'name') return [[from.name, target]];
  return [...fields.keys()]
    .filter((name) => name.startsWith(from.prefix))
    .map((name) => [name, to.kind === 'name' ? target : target + name.slice(from.prefix.length)]);
}

function move(fields: Map<string, string>, source: string, target: string, remove: boolean): void {
  if (source === target) return;
  const value = fields.get(source) ?? '';
  if (remove) fields.delete(source);
  fields.set(target, value);
}

/** A row of the given fields; its time comes from `_time`. */
export function rowOf(fields: ReadonlyMap<string, string>): MapRow {
  return new MapRow(fields, timeNsOf(fields.get('_time') ?? ''));
}

/** `limit`. */
export function cutOperator(pipe: CutPipe, next: Operator): Operator {
  let left = pipe.count;
  return {
    push(row) {
      if (left <= 0) return false;
      left--;
      return next.push(row) && left > 0;
    },
    finish: () => next.finish(),
  };
}
