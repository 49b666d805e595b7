import type { ArgNode, CommandNode, PipeNode, Template, TemplateList, TemplateNode } from '../ast.js';

/** Facts about a template that follow from its text. */
export interface Inspected {
  /** The number of texts, actions, control words and commands, for their limit. */
  readonly nodes: number;
  /** The labels that it may read: hints for parsers. */
  readonly fields: ReadonlySet<string> | 'all';
}

export function inspect({ body, definitions }: Template): Inspected {
  const inspector = new Inspector();
  inspector.list(body, true);
  for (const list of definitions.values()) inspector.list(list, true);
  return { nodes: inspector.nodes, fields: inspector.usesAll ? 'all' : inspector.names };
}

class Inspector {
  nodes = 0;
  readonly names = new Set<string>();
  usesAll = false;

  /** @param isRoot true if the dot is, or may be, the labels */
  list(list: TemplateList, isRoot: boolean): void {
    for (const node of list) {
      this.nodes += 1;
      this.#node(node, isRoot);
    }
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
        if (node.pipe !== undefined) this.#pipe(node.pipe, isRoot && !isBareDot(node.pipe));
        return;
    }
  }

  #pipe({ commands }: PipeNode, isRoot: boolean): void {
    for (const command of commands) {
      this.nodes += 1;
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
