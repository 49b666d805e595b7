import type { Expr, LogExpr, LogRange, RangeAggregation, VectorAggregation } from '../ast.js';
import { formatFloatShort } from '../values/go-float.js';
import { formatPromDuration } from '../values/prom-duration.js';
import { quoteGo } from '../../base/time/go-quote.js';
import { PlainPrinter, printGrouping, printOperator } from './plain.js';
import { groupStages, printSelector, printStages, printUnwrap } from './stages.js';

const maxLineBytes = 100;

/**
 * Prints a query as Loki's format_query does: on one line up to 100 bytes, otherwise broken up level by level. As in Loki, the multi-line
 * form loses the parentheses around binary operations.
 */
export function printQuery(expr: Expr): string {
  return new PrettyPrinter().print(expr, 0);
}

class PrettyPrinter {
  readonly #plain = new PlainPrinter();

  print(expr: Expr, level: number): string {
    const plain = this.#plain.print(expr);
    if (fitsLine(plain)) return indent(level) + plain;
    switch (expr.kind) {
      case 'log':
        return this.#log(expr, level);
      case 'range-aggregation':
        return this.#rangeAggregation(expr, level);
      case 'vector-aggregation':
        return this.#vectorAggregation(expr, level);
      case 'binary': {
        const left = this.print(expr.left, level + 1);
        return `${left}\n${indent(level)}${printOperator(expr)}\n${this.print(expr.right, level + 1)}`;
      }
      case 'label-replace': {
        const texts = [expr.destination, expr.replacement, expr.source, expr.regex];
        const quoted = texts.map((text) => indent(level + 1) + quoteGo(text));
        return call('label_replace', [this.print(expr.expr, level + 1), ...quoted], level);
      }
      case 'vector':
      case 'literal':
        return indent(level) + plain;
    }
  }

  #log(expr: LogExpr, level: number): string {
    const groups = groupStages(expr.stages).map((group) => indent(level + 1) + printStages(group));
    return [indent(level) + printSelector(expr.selector), ...groups].join('\n');
  }

  #rangeAggregation(expr: RangeAggregation, level: number): string {
    const range = this.#range(expr.range, level + 1);
    const parameter =
      expr.parameter === undefined ? [] : [indent(level + 1) + formatFloatShort(expr.parameter)];
    return call(expr.op, [...parameter, range], level) + printGrouping(expr.grouping, ', ');
  }

  #range(range: LogRange, level: number): string {
    const unwrap = range.unwrap === undefined ? [] : printUnwrap(range.unwrap);
    const lines = [this.print(range.query, level), ...unwrap.map((text) => indent(level + 1) + text)];
    const offset = range.offsetNanoseconds;
    const sign = offset < 0n ? '-' : '';
    // Only here the offset is printed in Prometheus' style.
    const shift = offset === 0n ? '' : ` offset ${sign}${formatPromDuration(offset < 0n ? -offset : offset)}`;
    return `${lines.join('\n')} [${formatPromDuration(range.intervalNanoseconds)}]${shift}`;
  }

  #vectorAggregation(expr: VectorAggregation, level: number): string {
    const parameter = expr.parameter === undefined ? [] : [`${indent(level + 1)}${expr.parameter}`];
    const name = expr.op + printGrouping(expr.grouping, ', ');
    return call(name, [...parameter, this.print(expr.expr, level + 1)], level);
  }
}

function call(name: string, args: readonly string[], level: number): string {
  return `${indent(level)}${name}(\n${args.join(',\n')}\n${indent(level)})`;
}

function indent(level: number): string {
  return '  '.repeat(level);
}

function fitsLine(text: string): boolean {
  return text.length <= maxLineBytes && Buffer.byteLength(text) <= maxLineBytes;
}
