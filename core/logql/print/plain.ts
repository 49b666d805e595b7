import type { BinaryExpr, Expr, Grouping, LogExpr, LogRange, VectorMatching } from '../ast.js';
import {
  printGoDuration,
  formatFloatFixed,
  formatFloatPlain,
  formatFloatShort,
  printPrometheusDuration,
} from '../../base/time/index.js';
import { quoteGo } from '../../base/time/go-quote.js';
import { printSelector, printStages, printUnwrap } from './stages.js';

/** Prints a query on one line, as Loki passes it on internally; parsing gives the same tree, except for sizes in bytes. */
export function printPlain(expr: Expr): string {
  return new PlainPrinter().print(expr);
}

/** Prints expressions on one line and caches the text of each node. */
export class PlainPrinter {
  readonly #texts = new Map<Expr | LogRange, string>();

  print(expr: Expr | LogRange): string {
    let text = this.#texts.get(expr);
    if (text === undefined) {
      text = this.#make(expr);
      this.#texts.set(expr, text);
    }
    return text;
  }

  #make(expr: Expr | LogRange): string {
    switch (expr.kind) {
      case 'log':
        return printLog(expr);
      case 'log-range': {
        const unwrap = expr.unwrap === undefined ? '' : ` ${printUnwrap(expr.unwrap).join(' ')}`;
        const offset =
          expr.offsetNanoseconds === 0n ? '' : ` offset ${printGoDuration(expr.offsetNanoseconds)}`;
        return `${this.print(expr.query)}${unwrap}[${printPrometheusDuration(expr.intervalNanoseconds)}]${offset}`;
      }
      case 'range-aggregation': {
        const parameter = expr.parameter === undefined ? '' : `${formatFloatPlain(expr.parameter)},`;
        return `${expr.op}(${parameter}${this.print(expr.range)})${printGrouping(expr.grouping)}`;
      }
      case 'vector-aggregation': {
        const parameter = expr.parameter === undefined ? '' : `${expr.parameter},`;
        const grouping = isWhole(expr.grouping) ? '' : printGrouping(expr.grouping);
        return `${expr.op}${grouping}(${parameter}${this.print(expr.expr)})`;
      }
      case 'binary':
        return `(${this.print(expr.left)} ${printOperator(expr)} ${this.print(expr.right)})`;
      case 'label-replace': {
        const texts = [expr.destination, expr.replacement, expr.source, expr.regex].map(quoteGo);
        return `label_replace(${this.print(expr.expr)},${texts.join(',')})`;
      }
      case 'vector':
        return `vector(${formatFloatFixed(expr.value)})`;
      case 'literal':
        return formatFloatShort(expr.value);
    }
  }
}

function printLog({ selector, stages }: LogExpr): string {
  return stages.length === 0 ? printSelector(selector) : `${printSelector(selector)} ${printStages(stages)}`;
}

/** ` by (a,b)`. */
function printGrouping(grouping: Grouping | undefined): string {
  if (grouping === undefined) return '';
  return ` ${grouping.without ? 'without' : 'by'} (${grouping.labels.join(',')})`;
}

/** Grouping by no labels, which is what an aggregation does anyway. */
function isWhole(grouping: Grouping | undefined): boolean {
  return grouping !== undefined && !grouping.without && grouping.labels.length === 0;
}

/** `+`, `> bool`, `* on (a) group_left (b)`; matching without a group ends in a space, as in Loki. */
function printOperator({ op, returnBool, matching }: BinaryExpr): string {
  const text = returnBool ? `${op} bool` : op;
  // Ignoring nothing is what happens anyway; Loki leaves out the group as well.
  const isPlain = matching === undefined || (!matching.on && matching.labels.length === 0);
  return isPlain ? text : `${text} ${printMatching(matching, ',')}`;
}

/** `on (a,b) group_left (c)`. */
export function printMatching({ on, labels, group, include }: VectorMatching, separator: string): string {
  const how = `${on ? 'on' : 'ignoring'} (${labels.join(separator)}) `;
  if (group === undefined) return how;
  return `${how}group_${group}${include.length === 0 ? '' : ` (${include.join(separator)})`}`;
}
