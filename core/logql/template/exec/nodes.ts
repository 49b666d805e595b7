import type { RangeNode, TemplateList, TemplateNode } from '../ast.js';
import { printed, sprint } from '../fmt/printf.js';
import { smallInt, concrete, GoInt, isTrue, type GoValue } from '../values.js';
import { exceeded, formatLimits } from './limits.js';
import { compilePipe } from './pipeline.js';
import { placeOfCall } from './place.js';
import type { TemplateRun } from './run.js';

/** The way a node ends: normally, or with a break or continue for its loop. */
export type Flow = 'next' | 'break' | 'continue';
export type Execute = (run: TemplateRun, dot: GoValue) => Flow;

/** The template around a node, as far as compiling it needs that. */
export interface NodeScope {
  readonly source: string;
  /** Nesting depth, for its limit. */
  readonly depth: number;
  /** The body of a definition; compiled by the time it is called. */
  readonly definition: (name: string) => Execute | undefined;
}

export function compileList(list: TemplateList, scope: NodeScope): Execute {
  const nodes = list.map((node) => compileNode(node, scope));
  const [only] = nodes;
  if (only !== undefined && nodes.length === 1) return only;
  return (run, dot) => {
    for (const execute of nodes) {
      const flow = execute(run, dot);
      if (flow !== 'next') return flow;
    }
    return 'next';
  };
}

function compileNode(node: TemplateNode, scope: NodeScope): Execute {
  switch (node.kind) {
    case 'text': {
      const { text } = node;
      return (run) => {
        run.write(text);
        return 'next';
      };
    }
    case 'action': {
      const evaluate = compilePipe(node.pipe);
      const isPrinted = node.pipe.declarations.length === 0;
      return (run, dot) => {
        run.charge(1);
        const value = evaluate(run, dot);
        if (isPrinted) run.write(printed(value, 'output'));
        return 'next';
      };
    }
    case 'if':
    case 'with': {
      const evaluate = compilePipe(node.pipe);
      const inner = nested(scope);
      const execute = compileList(node.list, inner);
      const otherwise = node.elseList === undefined ? undefined : compileList(node.elseList, inner);
      const isWith = node.kind === 'with';
      return (run, dot) => {
        run.charge(1);
        const outside = run.variables.length;
        const value = evaluate(run, dot);
        const flow = isTrue(value) ? execute(run, isWith ? value : dot) : (otherwise?.(run, dot) ?? 'next');
        run.variables.length = outside;
        return flow;
      };
    }
    case 'range':
      return compileRange(node, scope);
    case 'template':
      return compileTemplateCall(node, scope);
    case 'break':
    case 'continue': {
      const { kind } = node;
      return () => kind;
    }
  }
}

function nested(scope: NodeScope): NodeScope {
  const depth = scope.depth + 1;
  if (depth > formatLimits.nesting) exceeded('nesting');
  return { ...scope, depth };
}

function compileRange(node: RangeNode, scope: NodeScope): Execute {
  const evaluate = compilePipe(node.pipe);
  const inner = nested(scope);
  const execute = compileList(node.list, inner);
  const otherwise = node.elseList === undefined ? undefined : compileList(node.elseList, inner);
  const { declarations, isAssignment } = node.pipe;
  const [first, second] = declarations;
  const setVariables = (run: TemplateRun, outside: number, key: GoValue, element: GoValue): void => {
    if (first === undefined) return;
    if (isAssignment) {
      run.variable(first).value = second === undefined ? element : key;
      if (second !== undefined) run.variable(second).value = element;
      return;
    }
    // The pipeline has declared the variables; the last one is the element.
    const elementVariable = run.variables[outside + declarations.length - 1];
    const keyVariable = run.variables[outside + declarations.length - 2];
    if (elementVariable !== undefined) elementVariable.value = element;
    if (second !== undefined && keyVariable !== undefined) keyVariable.value = key;
  };
  return (run, dot) => {
    run.charge(1);
    const outside = run.variables.length;
    const value = concrete(evaluate(run, dot));
    const inside = run.variables.length;
    let isEmpty = true;
    let flow: Flow = 'next';
    for (const [key, element] of elementsOf(run, value, second !== undefined)) {
      isEmpty = false;
      run.charge(1);
      setVariables(run, inside - declarations.length, key, element);
      flow = execute(run, element);
      run.variables.length = inside;
      if (flow === 'break') break;
    }
    flow = isEmpty ? (otherwise?.(run, dot) ?? 'next') : 'next';
    run.variables.length = outside;
    return flow;
  };
}

/** The values of a range loop: elements of maps and slices, or the numbers up to one. */
function* elementsOf(
  run: TemplateRun,
  value: GoValue,
  hasKeys: boolean,
): Generator<readonly [GoValue, GoValue]> {
  if (value === undefined) return;
  if (value instanceof GoInt) {
    if (hasKeys) run.fail(`can't use ${sprint([value])} to iterate over more than one variable`);
    for (let count = 0n; count < value.value; count++) yield [undefined, new GoInt(count, value.type)];
    return;
  }
  if (typeof value === 'object' && value.kind === 'map') {
    yield* value.sorted();
    return;
  }
  if (typeof value === 'object' && value.kind === 'slice') {
    for (const [index, element] of value.items.entries()) yield [smallInt(index), element];
    return;
  }
  run.fail(`range can't iterate over ${sprint([value])}`);
}

function compileTemplateCall(node: Extract<TemplateNode, { kind: 'template' }>, scope: NodeScope): Execute {
  const place = placeOfCall(node, scope.source);
  const evaluate = node.pipe === undefined ? (): GoValue => undefined : compilePipe(node.pipe);
  const { name } = node;
  return (run, dot) => {
    run.charge(1);
    const body = scope.definition(name);
    if (body === undefined) {
      run.at = place;
      return run.fail(`template ${JSON.stringify(name)} not defined`);
    }
    const inner = evaluate(run, dot);
    const outside = { name: run.name, variables: run.variables, depth: run.depth };
    run.depth += scope.depth + 1;
    if (run.depth > formatLimits.nesting) exceeded('nesting');
    run.name = name;
    run.variables = [{ name: '$', value: inner }];
    body(run, inner);
    run.name = outside.name;
    run.variables = outside.variables;
    run.depth = outside.depth;
    return 'next';
  };
}
