import { quoteGo } from '../base/label-set.js';
import {
  formatFloatFixed,
  formatFloatPlain,
  formatFloatShort,
  printGoDuration,
  printPrometheusDuration,
} from '../base/time/index.js';
import type {
  BinaryExpr,
  Expr,
  Grouping,
  LogExpr,
  LogRange,
  RangeAggregation,
  Stage,
  VectorAggregation,
  VectorMatching,
} from './ast.js';
import {
  descriptorOf,
  groupStages,
  printSelector,
  printStage,
  printStages,
  printUnwrap,
} from './stages/index.js';

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
        return `${left}\n${indent(level)}${brokenOperator(expr)}\n${this.print(expr.right, level + 1)}`;
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
    const groups = groupStages(expr.stages).map((group) => printGroup(group, level + 1));
    return [indent(level) + printSelector(expr.selector), ...groups].join('\n');
  }

  #rangeAggregation(expr: RangeAggregation, level: number): string {
    const range = this.#range(expr.range, level + 1);
    const parameter =
      expr.parameter === undefined ? [] : [indent(level + 1) + formatFloatShort(expr.parameter)];
    return call(expr.op, [...parameter, range], level) + brokenGrouping(expr.grouping);
  }

  #range(range: LogRange, level: number): string {
    const unwrap = range.unwrap === undefined ? [] : printUnwrap(range.unwrap);
    const lines = [this.print(range.query, level), ...unwrap.map((text) => indent(level + 1) + text)];
    // Here alone the offset is printed in Prometheus' style.
    const offset = range.offsetNanoseconds;
    const shift = offset === 0n ? '' : ` offset ${printPrometheusDuration(offset)}`;
    return `${lines.join('\n')} [${printPrometheusDuration(range.intervalNanoseconds)}]${shift}`;
  }

  #vectorAggregation(expr: VectorAggregation, level: number): string {
    const parameter = expr.parameter === undefined ? [] : [`${indent(level + 1)}${expr.parameter}`];
    const name = expr.op + brokenGrouping(expr.grouping);
    return call(name, [...parameter, this.print(expr.expr, level + 1)], level);
  }
}

/** In the multi-line form, an empty list of labels is not printed. */
function brokenGrouping(grouping: Grouping | undefined): string {
  if (grouping === undefined) return '';
  const { without, labels } = grouping;
  if (labels.length === 0) return without ? ' without' : '';
  return ` ${without ? 'without' : 'by'} (${labels.join(', ')})`;
}

function brokenOperator({ op, returnBool, matching }: BinaryExpr): string {
  const text = returnBool ? `${op} bool` : op;
  const isPlain = matching === undefined || matching.labels.length === 0;
  return isPlain ? text : `${text} ${printMatching(matching, ', ')}`;
}

/** A stage, or several that are one stage to Loki: as many as fit one line, then one per line. */
function printGroup(group: readonly Stage[], level: number): string {
  const [first] = group;
  const layout = first && descriptorOf(first).layout;
  if (typeof layout !== 'object') return (layout === 'indented' ? indent(level) : '') + printStages(group);
  let line = '';
  let fitting = 0;
  for (const stage of group) {
    const longer = line === '' ? printStage(stage) : `${line} ${printStage(stage)}`;
    if (!fitsLine(longer)) break;
    line = longer;
    fitting += 1;
  }
  const rest = group.slice(fitting).map((stage) => layout.printAlone(stage));
  return [...(fitting === 0 ? [] : [line]), ...rest].map((text) => indent(level) + text).join('\n');
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

/** Prints a query on one line, as Loki passes it on internally; parsing gives the same tree, except for sizes in bytes. */
export function printPlain(expr: Expr): string {
  return new PlainPrinter().print(expr);
}

/** Prints expressions on one line and caches the text of each node. */
class PlainPrinter {
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

/** True for a grouping by no labels, which is an aggregation's default. */
function isWhole(grouping: Grouping | undefined): boolean {
  return grouping !== undefined && !grouping.without && grouping.labels.length === 0;
}

/** `+`, `> bool`, `* on (a) group_left (b)`; matching without a group ends in a space, as in Loki. */
function printOperator({ op, returnBool, matching }: BinaryExpr): string {
  const text = returnBool ? `${op} bool` : op;
  // Ignoring no labels is the default; Loki leaves out the group as well.
  const isPlain = matching === undefined || (!matching.on && matching.labels.length === 0);
  return isPlain ? text : `${text} ${printMatching(matching, ',')}`;
}

/** `on (a,b) group_left (c)`. */
function printMatching({ on, labels, group, include }: VectorMatching, separator: string): string {
  const how = `${on ? 'on' : 'ignoring'} (${labels.join(separator)}) `;
  if (group === undefined) return how;
  return `${how}group_${group}${include.length === 0 ? '' : ` (${include.join(separator)})`}`;
}
