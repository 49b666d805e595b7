import { quoteGo } from '../../base/label-set.js';
import { unquoteGo } from '../values/unquote.js';
import type { Template, TemplateList, TemplateNode } from './ast.js';
import type { TemplateToken, TemplateTokenKind } from './lexer.js';
import { templateFunctions } from './library/table.js';
import { PipelineParser, TokenStream, TemplateSyntaxError, type ParseScope } from './pipeline-parser.js';

export { TemplateSyntaxError };

type Terminator = 'end' | 'else';

/** Deep enough for any useful template, and far from overflowing the stack. */
const maxDepth = 250;

/**
 * Parses a template in the syntax of Go's text/template.
 * @param name the template's name in errors: `line` for line_format, `label` for label_format
 * @throws TemplateSyntaxError with Go's text (`template: line:1: unclosed action`)
 */
export function parseTemplate(source: string, name: string): Template {
  return new TemplateParser(source, name).parse();
}

class TemplateParser implements ParseScope {
  readonly stream: TokenStream;
  readonly #name: string;
  readonly #definitions = new Map<string, TemplateList>();
  readonly #pipelines = new PipelineParser(this);
  variables = ['$'];
  #depth = 0;
  #rangeDepth = 0;
  #actionLine = 0;

  constructor(source: string, name: string) {
    this.stream = new TokenStream(source);
    this.#name = name;
  }

  parse(): Template {
    const body: TemplateNode[] = [];
    while (this.stream.peek().kind !== 'eof') {
      if (this.#startsDefinition()) {
        this.#definition();
        continue;
      }
      const node = this.#textOrAction();
      if (node === 'end' || node === 'else') return this.fail(`unexpected {{${node}}}`);
      body.push(node);
    }
    return { body, definitions: this.#definitions };
  }

  fail(message: string): never {
    throw new TemplateSyntaxError(`template: ${this.#name}:${String(this.stream.line)}: ${message}`);
  }

  unexpected(token: TemplateToken, context: string, described: string): never {
    if (token.kind !== 'error') return this.fail(`unexpected ${described} in ${context}`);
    if (this.#actionLine === 0 || this.#actionLine === token.line) return this.fail(token.text);
    const where = `started at ${this.#name}:${String(this.#actionLine)}`;
    return this.fail(`${token.text}${token.text.endsWith(' action') ? '' : ' in action'} ${where}`);
  }

  hasFunction(name: string): boolean {
    return templateFunctions.has(name);
  }

  nested<T>(parse: () => T): T {
    if (++this.#depth > maxDepth) this.fail('max expression depth exceeded');
    const result = parse();
    this.#depth--;
    return result;
  }

  #startsDefinition(): boolean {
    if (this.stream.peek().kind !== 'left') return false;
    const left = this.stream.next();
    const token = this.stream.nextNonSpace();
    if (token.kind === 'keyword' && token.text === 'define') return true;
    this.stream.backup2(left);
    return false;
  }

  #definition(): void {
    const context = 'define clause';
    const name = this.#templateName(this.stream.nextNonSpace(), context);
    this.#expect('right', context);
    this.#define(name, context);
  }

  /** Parses the body of a definition, which sees no outer variables. */
  #define(name: string, context: string): void {
    const outside = { variables: this.variables, rangeDepth: this.#rangeDepth };
    this.variables = ['$'];
    this.#rangeDepth = 0;
    const { list, terminator } = this.#list();
    if (terminator !== 'end') this.fail(`unexpected {{${terminator}}} in ${context}`);
    this.variables = outside.variables;
    this.#rangeDepth = outside.rangeDepth;
    const known = this.#definitions.get(name);
    if (known === undefined || isEmpty(known)) this.#definitions.set(name, list);
    else if (!isEmpty(list)) {
      throw new TemplateSyntaxError(`template: multiple definition of template ${quoteGo(name)}`);
    }
  }

  #list(): { list: TemplateList; terminator: Terminator } {
    return this.nested(() => {
      const list: TemplateNode[] = [];
      while (this.stream.peekNonSpace().kind !== 'eof') {
        const node = this.#textOrAction();
        if (node === 'end' || node === 'else') return { list, terminator: node };
        list.push(node);
      }
      return this.fail('unexpected EOF');
    });
  }

  #textOrAction(): TemplateNode | Terminator {
    const token = this.stream.nextNonSpace();
    const { offset, line } = token;
    if (token.kind === 'text') return { kind: 'text', text: token.text, offset, line };
    if (token.kind !== 'left') return this.#pipelines.unexpected(token, 'input');
    this.#actionLine = line;
    const node = this.#action();
    this.#actionLine = 0;
    return node;
  }

  #action(): TemplateNode | Terminator {
    const token = this.stream.nextNonSpace();
    if (token.kind === 'keyword') {
      switch (token.text) {
        case 'block':
          return this.#block(token);
        case 'break':
        case 'continue':
          return this.#loopControl(token, token.text);
        case 'else': {
          const after = this.stream.peekNonSpace();
          if (!isKeyword(after, 'if') && !isKeyword(after, 'with')) this.#expect('right', 'else');
          return 'else';
        }
        case 'end':
          this.#expect('right', 'end');
          return 'end';
        case 'if':
        case 'range':
        case 'with':
          return this.#control(token, token.text);
        case 'template':
          return this.#templateCall(token);
        default:
          break;
      }
    }
    this.stream.backup();
    const { offset, line } = this.stream.peek();
    return { kind: 'action', pipe: this.#pipelines.pipeline('command', 'right'), offset, line };
  }

  #loopControl({ offset, line }: TemplateToken, kind: 'break' | 'continue'): TemplateNode {
    const token = this.stream.nextNonSpace();
    if (token.kind !== 'right') this.#pipelines.unexpected(token, `{{${kind}}}`);
    if (this.#rangeDepth === 0) this.fail(`{{${kind}}} outside {{range}}`);
    return { kind, offset, line };
  }

  #control({ offset, line }: TemplateToken, kind: 'if' | 'range' | 'with'): TemplateNode {
    const outside = this.variables.length;
    const pipe = this.#pipelines.pipeline(kind, 'right');
    if (kind === 'range') this.#rangeDepth++;
    const { list, terminator } = this.#list();
    if (kind === 'range') this.#rangeDepth--;
    const elseList = terminator === 'else' ? this.#elseList(kind) : undefined;
    this.variables.length = outside;
    return { kind, pipe, list, elseList, offset, line };
  }

  /** `{{else if}}` and `{{else with}}` are a nested control inside the else, and share its end. */
  #elseList(kind: 'if' | 'range' | 'with'): TemplateList {
    if (kind !== 'range' && isKeyword(this.stream.peek(), kind)) {
      const token = this.stream.next();
      return this.nested(() => [this.#control(token, kind)]);
    }
    const { list, terminator } = this.#list();
    if (terminator !== 'end') this.fail(`expected end; found {{${terminator}}}`);
    return list;
  }

  #templateCall({ offset, line }: TemplateToken): TemplateNode {
    const context = 'template clause';
    const name = this.#templateName(this.stream.nextNonSpace(), context);
    if (this.stream.nextNonSpace().kind === 'right')
      return { kind: 'template', name, pipe: undefined, offset, line };
    this.stream.backup();
    return { kind: 'template', name, pipe: this.#pipelines.pipeline(context, 'right'), offset, line };
  }

  #block({ offset, line }: TemplateToken): TemplateNode {
    const context = 'block clause';
    const name = this.#templateName(this.stream.nextNonSpace(), context);
    const pipe = this.#pipelines.pipeline(context, 'right');
    this.#define(name, context);
    return { kind: 'template', name, pipe, offset, line };
  }

  #templateName(token: TemplateToken, context: string): string {
    if (token.kind !== 'string') return this.#pipelines.unexpected(token, context);
    return unquoteGo(token.text) ?? this.fail('invalid syntax');
  }

  #expect(kind: TemplateTokenKind, context: string): void {
    const token = this.stream.nextNonSpace();
    if (token.kind !== kind) this.#pipelines.unexpected(token, context);
  }
}

function isKeyword(token: TemplateToken, word: string): boolean {
  return token.kind === 'keyword' && token.text === word;
}

/** True when a template is only white space, so that another definition may replace it. */
function isEmpty(list: TemplateList): boolean {
  return list.every((node) => node.kind === 'text' && node.text.trim() === '');
}
