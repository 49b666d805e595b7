import type { OwnTest, ValueTest } from '../../../core/victoria/logsql/ast.js';
import type { RowView } from '../../../core/victoria/logsql/row.js';
import type { ForeignTest, SubqueryTest } from './ast.js';
import { compileForeignTest } from './ops/value-test.js';
import { printForeignTest } from './print.js';

/** A test in a filter that only users of the backend write. */
export class EmbeddedTest implements OwnTest {
  readonly kind = 'own';
  readonly test: ForeignTest;

  constructor(test: ForeignTest) {
    this.test = test;
  }

  print(): string {
    return printForeignTest(this.test);
  }

  compile(): (row: RowView, name: string) => boolean {
    return compileForeignTest(this.test);
  }
}

/** A test for values in a list. */
export function listTest(
  kind: SubqueryTest['test'] | 'json-array-contains-any',
  values: readonly string[],
): ValueTest {
  return kind === 'in' ? { kind, values } : new EmbeddedTest({ kind, values });
}
