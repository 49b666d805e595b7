import { doAll, type Steps } from '../../base/pace/steps.js';
import { sharingBudget } from '../regexp/index.js';
import type { Expr, LabelFormatStage, LineFilterStage, LineFilterTerm, MetricExpr, Stage } from '../ast.js';
import { errorAt } from '../error.js';
import { parseJsonPath } from '../paths/json-path.js';
import { parseLogfmtKey } from '../paths/logfmt-key.js';
import { PathError } from '../paths/scanner.js';
import { parsePattern, PatternError } from '../pattern.js';
import { groupStages, printStages } from '../print/stages.js';
import { regexpFault } from '../syntax/matchers.js';
import { parseTemplate, TemplateSyntaxError } from '../template/parse.js';
import { quoteGo } from '../../base/time/go-quote.js';
import { dropUnusedLineFormats } from './line-formats.js';
import { orderStages } from '../pipeline/line-order.js';
import { isIpPattern } from './ip.js';
import { checkStageLimits } from './stage-limits.js';

/** Stages and parts of stages checked per step. */
const stepParts = 50;

/**
 * Checks that every stage of a query can be compiled, which Loki does only when it runs the query on data.
 * @throws LogqlError with Loki's text
 */
export function checkStages(expr: Expr): void {
  doAll(checkSteps(expr));
}

/** The same in steps, for long queries. */
export function checkSteps(expr: Expr): Steps<void> {
  return sharingBudget(checkAll(expr));
}

function* checkAll(expr: Expr): Steps<void> {
  let checked = 0;
  const pipelines = pipelinesOf(expr);
  checkStageLimits(pipelines.flat());
  for (const stages of pipelines) {
    for (const group of groupStages(orderStages(stages))) {
      // Of adjacent line filters the last one is made first.
      for (const stage of group.toReversed()) {
        const fault = yield* stageFault(stage);
        checked += 1;
        if (checked % stepParts === 0) yield;
        if (fault !== undefined) throw errorAt(`stage '${printStages(group)}' : ${fault}`);
      }
    }
  }
}

/** The pipelines of a query from left to right, in execution order. */
function pipelinesOf(expr: Expr): (readonly Stage[])[] {
  if (expr.kind === 'log') return [expr.stages];
  const found: (readonly Stage[])[] = [];
  const pending: MetricExpr[] = [expr];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    switch (next.kind) {
      case 'range-aggregation':
        found.push(dropUnusedLineFormats(next));
        break;
      case 'vector-aggregation':
      case 'label-replace':
        pending.push(next.expr);
        break;
      case 'binary':
        pending.push(next.right, next.left);
        break;
      case 'vector':
      case 'literal':
        break;
    }
  }
  return found;
}

function* stageFault(stage: Stage): Steps<string | undefined> {
  switch (stage.kind) {
    case 'line-filter':
      return yield* lineFilterFault(stage);
    case 'json':
      return faultOf(() => stage.params.forEach(({ path }) => void parseJsonPath(path)));
    case 'logfmt':
      return faultOf(() => stage.params.forEach(({ path }) => void parseLogfmtKey(path)));
    case 'label-filter':
      // Loki only checks the top of a filter tree: an invalid address deeper inside passes.
      return stage.filter.kind === 'ip' ? ipFault(stage.filter.value) : undefined;
    case 'line-format': {
      const fault = faultOf(() => parseTemplate(stage.template, 'line'));
      return fault === undefined ? undefined : `invalid line template: ${fault}`;
    }
    case 'label-format':
      return yield* labelFormatFault(stage);
    case 'regexp':
    case 'pattern':
    case 'unpack':
    case 'decolorize':
    case 'drop':
    case 'keep':
      return undefined;
  }
}

function lineFilterFault({ op, alternatives }: LineFilterStage): Steps<string | undefined> {
  return firstDefined(alternatives, (term) => termFault(op, term));
}

function termFault(op: LineFilterStage['op'], { kind, value }: LineFilterTerm): string | undefined {
  if (kind === 'ip') return op === '|=' || op === '!=' ? ipFault(value) : 'ip: invalid operation';
  switch (op) {
    case '|~':
    case '!~':
      return regexpFault(value);
    case '|>':
    case '!>':
      return faultOf(() => parsePattern(value, 'filter'));
    case '|=':
    case '!=':
      return undefined;
  }
}

function ipFault(value: string): string | undefined {
  return isIpPattern(value) ? undefined : `ip: invalid pattern: ${quoteGo(value)}`;
}

function* labelFormatFault({ assignments }: LabelFormatStage): Steps<string | undefined> {
  const names = new Set<string>();
  for (const { name } of assignments) {
    if (name === '__error__') return `${name} cannot be formatted`;
    if (names.has(name)) return `multiple label name '${name}' not allowed in a single format operation`;
    names.add(name);
  }
  return yield* firstDefined(assignments, (made) => {
    if (made.kind === 'rename') return undefined;
    const fault = faultOf(() => parseTemplate(made.template, 'label'));
    return fault === undefined ? undefined : `invalid template for label '${made.name}': ${fault}`;
  });
}

function* firstDefined<T>(
  list: readonly T[],
  check: (item: T) => string | undefined,
): Steps<string | undefined> {
  for (const [index, item] of list.entries()) {
    if ((index + 1) % stepParts === 0) yield;
    const fault = check(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The error of parsing a stage's own language. */
function faultOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    const isFault =
      error instanceof PathError || error instanceof PatternError || error instanceof TemplateSyntaxError;
    if (isFault) return error.message;
    throw error;
  }
}
