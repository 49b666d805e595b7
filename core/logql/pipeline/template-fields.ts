import type { ArgNode, PipeNode, TemplateList } from '../template/ast.js';
import { parseTemplate } from '../template/parse.js';

/**
 * The fields that a template names. These are the only labels that Loki knows it reads: not those used through `index`, a variable, a
 * defined template or the dot as a whole. Of a chain of fields it takes every name for a label.
 * @throws TemplateSyntaxError
 */
export function templateFields(text: string, name: 'line' | 'label'): readonly string[] {
  const names = new Set<string>();
  addList(parseTemplate(text, name).body, names);
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
  if (arg.kind === 'field') for (const field of arg.names) names.add(field);
  if (arg.kind === 'pipe') addPipe(arg, names);
}
