import type { ArgNode, CommandNode, PipeNode, TemplateNode } from '../ast.js';
import { quoteGoText } from '../fmt/quote.js';

/** A position in the template, for error texts. */
export interface Place {
  readonly offset: number;
  /** The node as Go prints it. */
  readonly source: () => string;
}

export function placeOfPipe(pipe: PipeNode): Place {
  return { offset: pipe.offset, source: () => pipeSource(pipe) };
}

export function placeOfCommand(command: CommandNode): Place {
  return { offset: command.offset, source: () => commandSource(command) };
}

export function placeOfArgument(node: ArgNode): Place {
  return { offset: argumentOffset(node), source: () => argumentSource(node) };
}

/** `{{template "x" .}}` has the position of its name. */
export function placeOfCall(node: Extract<TemplateNode, { kind: 'template' }>, text: string): Place {
  const name = /["`]/g;
  name.lastIndex = node.offset;
  const offset = name.exec(text)?.index ?? node.offset;
  const pipe = node.pipe === undefined ? '' : ` ${pipeSource(node.pipe)}`;
  return { offset, source: () => `{{template ${quoteGoText(node.name)}${pipe}}}` };
}

/** Go positions a chain of fields at its second part. */
function argumentOffset(node: ArgNode): number {
  if (node.kind === 'field' && node.names.length > 1) return node.offset + 1 + (node.names[0]?.length ?? 0);
  if (node.kind === 'variable' && node.fields.length > 0) return node.offset + node.name.length;
  return node.offset;
}

export function argumentSource(node: ArgNode): string {
  switch (node.kind) {
    case 'identifier':
      return node.name;
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'string':
    case 'number':
      return node.source;
    case 'field':
      return `.${node.names.join('.')}`;
    case 'variable':
      return [node.name, ...node.fields].join('.');
    case 'chain': {
      const base = node.base.kind === 'pipe' ? `(${pipeSource(node.base)})` : argumentSource(node.base);
      return [base, ...node.fields].join('.');
    }
    case 'pipe':
      return pipeSource(node);
  }
}

function pipeSource({ declarations, isAssignment, commands }: PipeNode): string {
  const target = declarations.length === 0 ? '' : `${declarations.join(', ')} ${isAssignment ? '=' : ':='} `;
  return target + commands.map(commandSource).join(' | ');
}

function commandSource({ args }: CommandNode): string {
  return args.map((arg) => (arg.kind === 'pipe' ? `(${pipeSource(arg)})` : argumentSource(arg))).join(' ');
}
