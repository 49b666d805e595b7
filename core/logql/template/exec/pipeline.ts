import type { ArgNode, CommandNode, PipeNode, NumberNode } from '../ast.js';
import { functionTable } from '../library/table.js';
import type { GoFunction, ParameterType } from '../library/types.js';
import {
  concrete,
  type GoValue,
  GoComplex,
  GoInt,
  nilInterface,
  staticTypeName,
  type GoMap,
} from '../values.js';
import {
  compileCall,
  missing,
  type CompileArgument,
  type Evaluate,
  type EvaluateCommand,
  type Piped,
} from './call.js';
import { checkedArgument, typeText, type TemplateRun, isNilInterface } from './run.js';
import { argumentSource, placeOfArgument, placeOfCommand, placeOfPipe, type Place } from './place.js';
import { maxInt64, minInt64 } from '../../../base/time/index.js';
import { methodOf, type Method } from '../library/methods.js';
import { GoTime } from '../time/go-time.js';

/** Compiles `a | b | c` and the variables it sets. */
export function compilePipe(pipe: PipeNode): Evaluate {
  const place = placeOfPipe(pipe);
  const commands = pipe.commands.map(compileCommand);
  const [first] = commands;
  const { declarations, isAssignment } = pipe;
  if (first !== undefined && commands.length === 1 && declarations.length === 0) {
    return (run, dot) => {
      run.at = place;
      return concrete(first(run, dot, missing));
    };
  }
  return (run, dot) => {
    run.at = place;
    let value: Piped = missing;
    for (const command of commands) value = concrete(command(run, dot, value));
    const result = value === missing ? undefined : value;
    for (const name of declarations) {
      if (isAssignment) run.variable(name).value = result;
      else run.declare(name, result);
    }
    return result;
  };
}

function compileCommand(command: CommandNode): EvaluateCommand {
  const [first, ...args] = command.args;
  if (first === undefined) return () => undefined;
  const hasArguments = args.length > 0;
  switch (first.kind) {
    case 'identifier':
      return compileIdentifier(first.name, placeOfArgument(first), placeOfCommand(command), args);
    case 'field':
      return compileField(placeOfArgument(first), first.names, args);
    case 'variable':
      return compileVariable(first, args);
    case 'chain':
      return compileChain(first, args);
    case 'pipe': {
      const inner = compilePipe(first);
      return (run, dot, piped) => {
        refuseArguments(run, first, hasArguments, piped);
        return inner(run, dot);
      };
    }
    case 'dot':
      return plainCommand(first, hasArguments, (_run, dot) => dot);
    case 'nil':
      return plainCommand(first, hasArguments, (run) => run.fail('nil is not a command'));
    case 'bool':
    case 'string':
    case 'number':
      return plainCommand(first, hasArguments, constant(freeConstant(first)));
  }
}

/** A command without arguments. */
function plainCommand(node: ArgNode, hasArguments: boolean, evaluate: Evaluate): EvaluateCommand {
  const place = placeOfArgument(node);
  return (run, dot, piped) => {
    run.at = place;
    refuseArguments(run, node, hasArguments, piped);
    return evaluate(run, dot);
  };
}

function refuseArguments(run: TemplateRun, node: ArgNode, hasArguments: boolean, piped: Piped): void {
  if (hasArguments || piped !== missing)
    run.fail(`can't give argument to non-function ${argumentSource(node)}`);
}

function constant(known: ConstantValue): Evaluate {
  if ('fault' in known) return (run) => run.fail(known.fault);
  const { value } = known;
  return () => value;
}

function compileIdentifier(
  name: string,
  place: Place,
  command: Place,
  args: readonly ArgNode[],
): EvaluateCommand {
  const known: GoFunction | undefined = functionTable.get(name);
  const call = compileCall({ name, place: command, args, known, compileArgument });
  return (run, dot, piped) => {
    run.at = place;
    return call(run, dot, piped);
  };
}

function compileField(place: Place, names: readonly string[], args: readonly ArgNode[]): EvaluateCommand {
  const [name] = names;
  if (name !== undefined && names.length === 1 && args.length === 0) {
    const chain = compileFields(place, names, args);
    return (run, dot, piped) => {
      run.at = place;
      // A fast path for labels, which nearly every template reads.
      if (dot === run.labels && piped === missing) return elementOf(run.labels, name);
      return chain(run, dot, piped, dot);
    };
  }
  const chain = compileFields(place, names, args);
  return (run, dot, piped) => {
    run.at = place;
    return chain(run, dot, piped, dot);
  };
}

function compileVariable(
  node: Extract<ArgNode, { kind: 'variable' }>,
  args: readonly ArgNode[],
): EvaluateCommand {
  const place = placeOfArgument(node);
  const { name, fields } = node;
  const hasArguments = args.length > 0;
  const chain = compileFields(place, fields, args);
  return (run, dot, piped) => {
    run.at = place;
    const { value } = run.variable(name);
    if (fields.length > 0) return chain(run, dot, piped, value);
    refuseArguments(run, node, hasArguments, piped);
    return value;
  };
}

function compileChain(node: Extract<ArgNode, { kind: 'chain' }>, args: readonly ArgNode[]): EvaluateCommand {
  const place = placeOfArgument(node);
  const { base } = node;
  const receiver = base.kind === 'nil' ? undefined : compileArgument(base, 'value');
  const chain = compileFields(place, node.fields, args);
  return (run, dot, piped) => {
    run.at = place;
    if (receiver === undefined)
      return run.fail(`indirection through explicit nil in ${argumentSource(node)}`);
    return chain(run, dot, piped, receiver(run, dot));
  };
}

type EvaluateFields = (run: TemplateRun, dot: GoValue, piped: Piped, receiver: GoValue) => GoValue;

/** Reads `.a.b.c` of a value; arguments are passed to the last name, in case it is a method. */
function compileFields(place: Place, names: readonly string[], args: readonly ArgNode[]): EvaluateFields {
  return (run, dot, piped, receiver) => {
    let value = receiver;
    names.forEach((name, index) => {
      const isLast = index === names.length - 1;
      const given = isLast ? piped : missing;
      const own = isLast ? args : [];
      const field = fieldOf(run, value, name, own.length > 0 || given !== missing);
      if ('value' in field) {
        value = field.value;
        return;
      }
      const { method } = field;
      const call = compileCall({ name, place, args: own, known: method, compileArgument });
      value = call(run, dot, given);
    });
    return value;
  };
}

/** Compiles an argument; every kind of node has its own conversion to a type. */
const compileArgument: CompileArgument = (node, type) => {
  const place = placeOfArgument(node);
  switch (node.kind) {
    case 'nil':
      return (run) => {
        run.at = place;
        return type === 'any' || type === 'value'
          ? undefined
          : run.fail(`cannot assign nil to ${typeText(type)}`);
      };
    case 'bool':
    case 'string':
    case 'number': {
      const evaluate = constant(typedConstant(node, type));
      return (run, dot) => {
        run.at = place;
        return evaluate(run, dot);
      };
    }
    case 'dot':
      return (run, dot) => {
        run.at = place;
        return checkedArgument(run, dot, type);
      };
    case 'pipe': {
      const evaluate = compilePipe(node);
      return (run, dot) => checkedArgument(run, evaluate(run, dot), type);
    }
    case 'identifier':
    case 'field':
    case 'variable':
    case 'chain': {
      const evaluate = compileCommand({ kind: 'command', offset: node.offset, args: [node] });
      return (run, dot) => {
        run.at = place;
        return checkedArgument(run, evaluate(run, dot, missing), type);
      };
    }
  }
};

type Constant = Extract<ArgNode, { kind: 'bool' | 'string' | 'number' }>;

/** The value of a constant, or the reason why it is invalid here, which only matters if the template evaluates it. */
type ConstantValue = { readonly value: GoValue } | { readonly fault: string };

/** A constant where any type is allowed: its spelling decides the type. */
function freeConstant(node: Constant): ConstantValue {
  return node.kind === 'number' ? freeNumber(node) : { value: node.value };
}

/** A constant as an argument of a parameter's type. */
function typedConstant(node: Constant, type: ParameterType): ConstantValue {
  const expected = (what: string): ConstantValue => ({
    fault: `expected ${what}; found ${argumentSource(node)}`,
  });
  switch (type) {
    case 'any':
    case 'value':
      return freeConstant(node);
    case 'string':
      return node.kind === 'string' ? { value: node.value } : expected('string');
    case 'int':
    case 'time.Duration': {
      const value = node.kind === 'number' ? asInt64(node) : undefined;
      return value === undefined ? expected('integer') : { value: new GoInt(value, type) };
    }
    case 'float64':
      return node.kind === 'number' && node.float !== undefined ? { value: node.float } : expected('float');
    case 'time.Time':
      return { fault: `can't handle ${argumentSource(node)} for arg of type ${typeText(type)}` };
  }
}

function asInt64({ integer }: NumberNode): bigint | undefined {
  return integer !== undefined && integer >= minInt64 && integer <= maxInt64 ? integer : undefined;
}

function freeNumber(node: NumberNode): ConstantValue {
  const { source, float, integer, isComplex } = node;
  if (isComplex) return { value: readComplex(source) };
  const isWhole = /^0[xX][^pP]+$/.test(source) || source.startsWith("'");
  if (float !== undefined && !isWhole && /[.eEpP]/.test(source)) return { value: float };
  const value = asInt64(node);
  if (value !== undefined) return { value: new GoInt(value) };
  return integer === undefined ? { value: undefined } : { fault: `${source} overflows int` };
}

/** `1+2i` or `2i`. */
function readComplex(source: string): GoComplex {
  const [, real = '0', imaginary = '0'] = /^(.+?(?=[+-][^+-]*i$))?(.*)i$/.exec(source) ?? [];
  return new GoComplex(Number(real), Number(imaginary));
}

const timeFields = new Set(['wall', 'ext', 'loc']);

/** `.name` of a value: an element of a map, or a method that is not called yet. */
function fieldOf(
  run: TemplateRun,
  receiver: GoValue,
  name: string,
  hasArguments: boolean,
): { readonly value: GoValue } | { readonly method: Method } {
  if (receiver === undefined) return { value: undefined };
  const type = staticTypeName(receiver);
  if (isNilInterface(receiver)) return run.fail(`nil pointer evaluating ${type}.${name}`);
  const value = concrete(receiver);
  if (value instanceof GoTime || value instanceof GoInt) {
    const method = methodOf(value, name);
    if (method !== undefined) return { method };
    if (value instanceof GoTime && timeFields.has(name)) {
      return run.fail(`${name} is an unexported field of struct type ${type}`);
    }
  }
  if (typeof value === 'object' && value.kind === 'map') {
    if (hasArguments) return run.fail(`${name} is not a method but has arguments`);
    return { value: elementOf(value, name) };
  }
  return run.fail(`can't evaluate field ${name} in type ${type}`);
}

/** Loki's templates treat a missing key as empty. */
function elementOf(map: GoMap, name: string): GoValue {
  return map.get(name) ?? (map.type === 'map[string]string' ? '' : nilInterface);
}
