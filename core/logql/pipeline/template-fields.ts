import type { ArgNode, PipeNode, Template, TemplateList, TemplateNode } from '../template/ast.js';

/** A template of nothing but text and plain fields, piece by piece. */
export type PlainPiece = { readonly text: string } | { readonly field: string };

/** The pieces of a template that is only text and `{{.name}}`; undefined for any other. */
export function plainPieces({ body, definitions }: Template): readonly PlainPiece[] | undefined {
  if (definitions.size > 0) return undefined;
  const pieces: PlainPiece[] = [];
  for (const node of body) {
    const piece = plainPiece(node);
    if (piece === undefined) return undefined;
    pieces.push(piece);
  }
  return pieces;
}

function plainPiece(node: TemplateNode): PlainPiece | undefined {
  if (node.kind === 'text') return { text: node.text };
  if (node.kind !== 'action' || node.pipe.declarations.length > 0) return undefined;
  const [command, ...more] = node.pipe.commands;
  const [arg, ...others] = command?.args ?? [];
  if (more.length > 0 || others.length > 0 || arg?.kind !== 'field' || arg.names.length !== 1)
    return undefined;
  const [field] = arg.names;
  return field === undefined ? undefined : { field };
}

/** The fields that a template names, which is what the reference knows of the labels that it reads. */
export function templateFields({ body, definitions }: Template): readonly string[] {
  const names = new Set<string>();
  for (const list of [body, ...definitions.values()]) addList(list, names);
  return [...names];
}

function addList(list: TemplateList, names: Set<string>): void {
  for (const node of list) {
    switch (node.kind) {
      case 'action':
        addPipe(node.pipe, names);
        break;
      case 'if':
      case 'with':
      case 'range':
        addPipe(node.pipe, names);
        addList(node.list, names);
        if (node.elseList !== undefined) addList(node.elseList, names);
        break;
      case 'template':
        if (node.pipe !== undefined) addPipe(node.pipe, names);
        break;
      case 'text':
      case 'break':
      case 'continue':
    }
  }
}

function addPipe({ commands }: PipeNode, names: Set<string>): void {
  for (const { args } of commands) for (const arg of args) addArg(arg, names);
}

function addArg(arg: ArgNode, names: Set<string>): void {
  const [first] = arg.kind === 'field' ? arg.names : arg.kind === 'variable' ? arg.fields : [];
  if (first !== undefined) names.add(first);
  if (arg.kind === 'pipe') addPipe(arg, names);
  if (arg.kind === 'chain') addArg(arg.base, names);
}
