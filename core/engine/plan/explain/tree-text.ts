import type { Expr, Grouping, LogExpr, Stage } from '../../../logql/ast.js';
import { printMatcher, printStage } from '../../../logql/index.js';
import { printGoDuration } from '../../../base/time/index.js';

/** Prints a tree on one line, a node per pair of parentheses: what the parser has understood. */
export function printTree(expr: Expr): string {
  switch (expr.kind) {
    case 'log':
      return printLogTree(expr);
    case 'literal':
      return String(expr.value);
    case 'vector':
      return `(vector ${expr.value})`;
    case 'range-aggregation': {
      const { query, unwrap, intervalNanoseconds, offsetNanoseconds } = expr.range;
      return node(
        expr.op,
        expr.parameter === undefined ? '' : String(expr.parameter),
        printGrouping(expr.grouping),
        `[${printGoDuration(intervalNanoseconds)}]`,
        offsetNanoseconds === 0n ? '' : `offset ${printGoDuration(offsetNanoseconds)}`,
        printLogTree(query),
        unwrap === undefined ? '' : node('unwrap', unwrap.conversion ?? '', unwrap.name),
        ...(unwrap?.filters ?? []).map(printStageNode),
      );
    }
    case 'vector-aggregation':
      return node(
        expr.op,
        expr.parameter === undefined ? '' : String(expr.parameter),
        printGrouping(expr.grouping),
        printTree(expr.expr),
      );
    case 'binary': {
      const { matching } = expr;
      const on =
        matching === undefined ? '' : `${matching.on ? 'on' : 'ignoring'} (${matching.labels.join(', ')})`;
      return node(
        expr.op,
        expr.returnBool ? 'bool' : '',
        on,
        matching?.group === undefined ? '' : `group_${matching.group} (${matching.include.join(', ')})`,
        printTree(expr.left),
        printTree(expr.right),
      );
    }
    case 'label-replace': {
      const texts = [expr.destination, expr.replacement, expr.source, expr.regex].map((text) =>
        JSON.stringify(text),
      );
      return node('label_replace', ...texts, printTree(expr.expr));
    }
  }
}

function printLogTree({ selector, stages }: LogExpr): string {
  return node('log', node('selector', ...selector.matchers.map(printMatcher)), ...stages.map(printStageNode));
}

function printStageNode(stage: Stage): string {
  return node(stage.kind, printStage(stage).replace(/^\| /, ''));
}

function printGrouping(grouping: Grouping | undefined): string {
  if (grouping === undefined) return '';
  return `${grouping.without ? 'without' : 'by'} (${grouping.labels.join(', ')})`;
}

function node(name: string, ...parts: readonly string[]): string {
  return `(${[name, ...parts].filter((part) => part !== '').join(' ')})`;
}
