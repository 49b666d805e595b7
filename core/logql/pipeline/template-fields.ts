import type { ArgNode, PipeNode, TemplateList } from '../template/ast.js';
import { parseTemplate } from '../template/parse.js';

/**
 * The fields that a template names. These are the only labels that Loki knows it reads: not those used through `index` or the dot as a
 * whole.
 * @throws TemplateSyntaxError
 */
export function templateFields(text: string, name: 'line' | 'label'): readonly string[] {
  const { body, definitions } = parseTemplate(text, name);
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
