import type { ArgNode, CommandNode, PipeNode, Template, TemplateList, TemplateNode } from '../ast.js';

/** Counts template nodes for their limit: texts, actions, control words and commands. */
export function countNodes({ body, definitions }: Template): number {
  let count = countList(body);
  for (const list of definitions.values()) count += countList(list);
  return count;
}

function countList(list: TemplateList): number {
  let count = 0;
  for (const node of list) count += 1 + countNode(node);
  return count;
}

function countNode(node: TemplateNode): number {
  switch (node.kind) {
    case 'text':
    case 'break':
    case 'continue':
      return 0;
    case 'action':
      return countPipe(node.pipe);
    case 'if':
    case 'with':
    case 'range':
      return countPipe(node.pipe) + countList(node.list) + countList(node.elseList ?? []);
    case 'template':
      return node.pipe === undefined ? 0 : countPipe(node.pipe);
  }
}

function countPipe({ commands }: PipeNode): number {
  return commands.reduce(
    (count, { args }) => count + 1 + args.reduce((inner, arg) => inner + countArgument(arg), 0),
    0,
  );
}

function countArgument(node: ArgNode): number {
  if (node.kind === 'chain') return countArgument(node.base);
  return node.kind === 'pipe' ? countPipe(node) : 0;
}

/** The labels that a template may read: hints for parsers. */
export function labelsRead({ body, definitions }: Template): ReadonlySet<string> | 'all' {
  const reader = new LabelReader();
  reader.list(body, true);
  for (const list of definitions.values()) reader.list(list, true);
  return reader.usesAll ? 'all' : reader.names;
}

class LabelReader {
  readonly names = new Set<string>();
  usesAll = false;

  /** @param isRoot true if the dot is, or may be, the labels */
  list(list: TemplateList, isRoot: boolean): void {
    for (const node of list) this.#node(node, isRoot);
  }

  #node(node: TemplateNode, isRoot: boolean): void {
    switch (node.kind) {
      case 'text':
      case 'break':
      case 'continue':
        return;
      case 'action':
        this.#pipe(node.pipe, isRoot);
        return;
      case 'if':
        this.#pipe(node.pipe, isRoot);
        this.list(node.list, isRoot);
        this.list(node.elseList ?? [], isRoot);
        return;
      case 'with':
      case 'range':
        // If the new dot were the labels, the pipeline would contain a bare dot and all labels would be read anyway.
        this.#pipe(node.pipe, isRoot);
        this.list(node.list, false);
        this.list(node.elseList ?? [], isRoot);
        return;
      case 'template':
        // Definitions are inspected separately: passing the labels on reads none.
        if (node.pipe !== undefined && !isBareDot(node.pipe)) this.#pipe(node.pipe, isRoot);
        return;
    }
  }

  #pipe({ commands }: PipeNode, isRoot: boolean): void {
    for (const command of commands) {
      const name = indexedName(command);
      if (name === undefined) for (const arg of command.args) this.#argument(arg, isRoot);
      else if (isRoot) this.names.add(name);
    }
  }

  #argument(node: ArgNode, isRoot: boolean): void {
    switch (node.kind) {
      case 'dot':
        if (isRoot) this.usesAll = true;
        return;
      case 'field':
        if (isRoot) this.names.add(node.names[0] ?? '');
        return;
      case 'variable':
        if (node.name !== '$') return;
        if (node.fields[0] === undefined) this.usesAll = true;
        else this.names.add(node.fields[0]);
        return;
      case 'chain':
        this.#argument(node.base, isRoot);
        return;
      case 'pipe':
        this.#pipe(node, isRoot);
        return;
      case 'identifier':
      case 'nil':
      case 'bool':
      case 'string':
      case 'number':
        return;
    }
  }
}

function isBareDot({ commands, declarations }: PipeNode): boolean {
  const [command, ...others] = commands;
  return (
    others.length === 0 &&
    declarations.length === 0 &&
    command?.args.length === 1 &&
    command.args[0]?.kind === 'dot'
  );
}

/** The label of `index . "name"`. */
function indexedName({ args }: CommandNode): string | undefined {
  const [word, subject, name] = args;
  const isIndex = args.length === 3 && word?.kind === 'identifier' && word.name === 'index';
  return isIndex && subject?.kind === 'dot' && name?.kind === 'string' ? name.value : undefined;
}
