import type { CutPipe, FieldRef, MovePipe, ProjectPipe } from '../ast.js';
import type { RowView } from '../row.js';
import { MapRow, copyFields } from '../row.js';
import { ProjectedRow, TrimmedRow, timeNsOf } from './derived-row.js';
import { isListed } from '../build.js';
import { mapRows } from './operator.js';
import type { Operator } from './operator.js';

/** `fields` and `delete`. */
export function projectOperator(pipe: ProjectPipe, next: Operator): Operator {
  const { fields } = pipe;
  if (pipe.kind === 'fields') {
    if (fields.some((field) => field.kind === 'prefix' && field.prefix === '')) return next;
    return mapRows((row) => new ProjectedRow(row, fields), next);
  }
  const gone = (name: string): boolean => isListed(fields, name);
  return mapRows((row) => new TrimmedRow(row, gone), next);
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

/** `drop_empty_fields`; rows without any fields are dropped. */
export function dropEmptyOperator(next: Operator): Operator {
  return mapRows((row) => {
    let any = false;
    for (const name of row.fieldNames()) any ||= row.get(name) !== '';
    return any ? new TrimmedRow(row, (name) => row.get(name) === '') : undefined;
  }, next);
}

/** `limit` and `offset`. */
export function cutOperator(pipe: CutPipe, next: Operator): Operator {
  let left = pipe.count;
  const passFirst = (row: RowView): boolean => {
    if (left <= 0) return false;
    left--;
    return next.push(row) && left > 0;
  };
  const skipFirst = (row: RowView): boolean => {
    if (left === 0) return next.push(row);
    left--;
    return true;
  };
  return { push: pipe.kind === 'limit' ? passFirst : skipFirst, finish: () => next.finish() };
}
