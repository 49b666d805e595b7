import { argumentSource } from './exec/place.js';
import type { ArgNode, CommandNode, PipeNode, NumberNode } from './ast.js';
import { type TemplateToken, type TemplateTokenKind, describeToken, lexTemplate } from './lexer.js';
import { minInt64, parseGoFloat } from '../../base/time/index.js';
import { quoteGo } from '../../base/label-set.js';
import { unquoteGo } from '../values/unquote.js';

const operandKinds: ReadonlySet<TemplateTokenKind> = new Set([
  ...(['bool', 'constant', 'complex', 'dot', 'field', 'identifier', 'number', 'nil'] as const),
  ...(['string', 'variable', 'open'] as const),
]);
/** Arguments that cannot receive the value of the command before them. */
const plainKinds: ReadonlySet<ArgNode['kind']> = new Set(['bool', 'dot', 'nil', 'number', 'string']);

/** Parses the inside of an action: commands joined by `|`, and the variables they set. */
export class PipelineParser {
  readonly #scope: ParseScope;

  constructor(scope: ParseScope) {
    this.#scope = scope;
  }

  unexpected(token: TemplateToken, context: string): never {
    return this.#scope.unexpected(token, context, describeToken(token));
  }

  /** Parses up to the closing delimiter or parenthesis. */
  pipeline(context: string, end: 'right' | 'close'): PipeNode {
    const { stream } = this.#scope;
    const { offset, line } = stream.peekNonSpace();
    const { declarations, isAssignment } = this.#declarations(context);
    const commands: CommandNode[] = [];
    for (let token = stream.nextNonSpace(); token.kind !== end; token = stream.nextNonSpace()) {
      if (!operandKinds.has(token.kind)) this.unexpected(token, context);
      stream.backup();
      commands.push(this.#command());
    }
    if (commands.length === 0) this.#scope.fail(`missing value for ${context}`);
    commands.forEach(({ args: [first] }, index) => {
      if (index === 0 || first === undefined || !plainKinds.has(first.kind)) return;
      this.#scope.fail(`non executable command in pipeline stage ${String(index + 1)}`);
    });
    return { kind: 'pipe', isAssignment, declarations, commands, offset, line };
  }

  #declarations(context: string): { declarations: string[]; isAssignment: boolean } {
    const { stream } = this.#scope;
    const declarations: string[] = [];
    for (;;) {
      const variable = stream.peekNonSpace();
      if (variable.kind !== 'variable') return { declarations, isAssignment: false };
      stream.next();
      // White space is a token, so telling `$x foo` from `$x := foo` takes two more tokens.
      const adjacent = stream.peek();
      const next = stream.peekNonSpace();
      if (next.kind === 'assign' || next.kind === 'declare') {
        stream.nextNonSpace();
        this.#declare(declarations, variable);
        return { declarations, isAssignment: next.kind === 'assign' };
      }
      if (next.kind !== 'char' || next.text !== ',') {
        if (adjacent.kind === 'space') stream.backup3(variable, adjacent);
        else stream.backup2(variable);
        return { declarations, isAssignment: false };
      }
      stream.nextNonSpace();
      this.#declare(declarations, variable);
      if (context !== 'range' || declarations.length >= 2) {
        this.#scope.fail(`too many declarations in ${context}`);
      }
      const { kind } = stream.peekNonSpace();
      if (kind !== 'variable' && kind !== 'right' && kind !== 'close') {
        this.#scope.fail('range can only initialize variables');
      }
    }
  }

  #declare(declarations: string[], { text }: TemplateToken): void {
    const [name = text] = text.split('.');
    declarations.push(name);
    this.#scope.variables.push(name);
  }

  #command(): CommandNode {
    const { stream } = this.#scope;
    const { offset } = stream.peekNonSpace();
    const args: ArgNode[] = [];
    for (;;) {
      stream.peekNonSpace();
      const operand = this.#operand();
      if (operand !== undefined) args.push(operand);
      const token = stream.next();
      if (token.kind === 'space') continue;
      if (token.kind === 'right' || token.kind === 'close') stream.backup();
      else if (token.kind !== 'pipe') this.unexpected(token, 'operand');
      break;
    }
    if (args.length === 0) this.#scope.fail('empty command');
    return { kind: 'command', offset, args };
  }

  #operand(): ArgNode | undefined {
    const { stream } = this.#scope;
    const node = this.#term();
    if (node === undefined || stream.peek().kind !== 'field') return node;
    const chainOffset = stream.peek().offset;
    const fields: string[] = [];
    while (stream.peek().kind === 'field') fields.push(stream.next().text.slice(1));
    switch (node.kind) {
      case 'field':
        return { ...node, names: [...node.names, ...fields] };
      case 'variable':
        return { ...node, fields: [...node.fields, ...fields] };
      case 'bool':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        return this.#scope.fail(`unexpected . after term ${quoteGo(argumentSource(node))}`);
      case 'identifier':
      case 'chain':
      case 'pipe':
        return { kind: 'chain', offset: chainOffset, base: node, fields };
    }
  }

  #term(): ArgNode | undefined {
    const { stream } = this.#scope;
    const token = stream.nextNonSpace();
    const { offset, text } = token;
    switch (token.kind) {
      case 'identifier':
        if (!this.#scope.hasFunction(text)) this.#scope.fail(`function ${quoteGo(text)} not defined`);
        return { kind: 'identifier', offset, name: text };
      case 'dot':
      case 'nil':
        return { kind: token.kind, offset };
      case 'variable':
        return this.#variable(token);
      case 'field':
        return { kind: 'field', offset, names: text.slice(1).split('.') };
      case 'bool':
        return { kind: 'bool', offset, value: text === 'true' };
      case 'constant':
      case 'complex':
      case 'number': {
        const number = readConstant(token);
        return typeof number === 'string' ? this.#scope.fail(number) : number;
      }
      case 'open':
        return this.#scope.nested(() => this.pipeline('parenthesized pipeline', 'close'));
      case 'string': {
        const value = unquoteGo(text);
        return value === undefined
          ? this.#scope.fail('invalid syntax')
          : { kind: 'string', offset, value, source: text };
      }
      default:
        stream.backup();
        return undefined;
    }
  }

  #variable({ offset, text }: TemplateToken): ArgNode {
    const [name = text, ...fields] = text.split('.');
    if (!this.#scope.variables.includes(name)) this.#scope.fail(`undefined variable ${quoteGo(name)}`);
    return { kind: 'variable', offset, name, fields };
  }
}

/**
 * Tokens with pushback as in Go's template parser: up to three tokens. The current token decides the line that an error names, so pushback
 * must work as in Go.
 */
export class TokenStream {
  readonly #tokens: Iterator<TemplateToken, TemplateToken>;
  readonly #held: [TemplateToken, TemplateToken, TemplateToken];
  #backed = 0;
  #last: TemplateToken | undefined;

  constructor(source: string) {
    this.#tokens = lexTemplate(source);
    const none: TemplateToken = { kind: 'eof', text: '', offset: 0, line: 0 };
    this.#held = [none, none, none];
  }

  get line(): number {
    return this.#held[0].line;
  }

  next(): TemplateToken {
    if (this.#backed > 0) this.#backed--;
    else this.#held[0] = this.#read();
    return this.#current();
  }

  backup(): void {
    this.#backed++;
  }

  /** Pushes back the current token and an earlier one before it. */
  backup2(earlier: TemplateToken): void {
    this.#held[1] = earlier;
    this.#backed = 2;
  }

  /** Pushes back the current token and two earlier ones before it. */
  backup3(earliest: TemplateToken, earlier: TemplateToken): void {
    this.#held[1] = earlier;
    this.#held[2] = earliest;
    this.#backed = 3;
  }

  peek(): TemplateToken {
    if (this.#backed > 0) return this.#held[this.#backed - 1] ?? this.#held[0];
    this.#backed = 1;
    this.#held[0] = this.#read();
    return this.#held[0];
  }

  nextNonSpace(): TemplateToken {
    let token = this.next();
    while (token.kind === 'space') token = this.next();
    return token;
  }

  peekNonSpace(): TemplateToken {
    const token = this.nextNonSpace();
    this.backup();
    return token;
  }

  #current(): TemplateToken {
    return this.#held[this.#backed] ?? this.#held[0];
  }

  /** After the end, the last token repeats. */
  #read(): TemplateToken {
    if (this.#last !== undefined) return this.#last;
    const { value, done } = this.#tokens.next();
    if (done === true) this.#last = value;
    return value;
  }
}

/** A template that Go refuses to parse; the message is Go's. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';
}

/** Interface of the pipeline parser to the parser of the surrounding template. */
export interface ParseScope {
  readonly stream: TokenStream;
  /** Names of the visible variables, innermost last. */
  readonly variables: string[];
  hasFunction(name: string): boolean;
  fail(message: string): never;
  unexpected(token: TemplateToken, context: string, described: string): never;
  /** Runs a nested parse; refuses nesting that is too deep. */
  nested<T>(parse: () => T): T;
}

const integerPattern =
  /^([+-]?)(0[xX]_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[oO]_?[0-7]+(?:_[0-7]+)*|0[bB]_?[01]+(?:_[01]+)*|0_?[0-7]+(?:_[0-7]+)*|0|[1-9][0-9]*(?:_[0-9]+)*)$/;
const maxUnsigned = (1n << 64n) - 1n;

/** Parses a constant; returns Go's error text when it is invalid. */
function readConstant({ kind, text, offset }: TemplateToken): NumberNode | string {
  const node = { kind: 'number', offset, source: text, isComplex: false } as const;
  if (kind === 'constant') {
    const char = unquoteGo(text);
    const code = char?.codePointAt(0);
    if (char === undefined || code === undefined || Array.from(char).length !== 1) {
      return `malformed character constant: ${text}`;
    }
    return { ...node, integer: BigInt(code), float: code };
  }
  if (kind === 'complex' || text.endsWith('i')) {
    return { ...node, integer: undefined, float: undefined, isComplex: true };
  }
  const integer = readInteger(text);
  if (integer !== undefined) return { ...node, integer, float: Number(integer) };
  const parsed = parseGoFloat(text);
  if (parsed.kind === 'bad') return `illegal number syntax: ${quoteGo(text)}`;
  // A number written as an integer that fits no integer type is not accepted as a float either.
  if (!/[.eEpP]/.test(text)) return `integer overflow: ${quoteGo(text)}`;
  const isWhole = Number.isInteger(parsed.value) && Math.abs(parsed.value) < 2 ** 63;
  return { ...node, integer: isWhole ? BigInt(parsed.value) : undefined, float: parsed.value };
}

function readInteger(text: string): bigint | undefined {
  const [, sign, digits] = integerPattern.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const plain = digits.replaceAll('_', '');
  const isOldOctal = /^0[0-7]/.test(plain);
  const size = BigInt(isOldOctal ? `0o${plain.slice(1)}` : plain);
  const value = sign === '-' ? -size : size;
  return value < minInt64 || value > maxUnsigned ? undefined : value;
}
