import type { Template } from '../ast.js';

/** A template of texts and plain fields: `texts` has one more item than `names`. */
export interface PlainTemplate {
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/** Most templates only insert labels into a text and need no evaluator. */
export function plainTemplate({ body }: Template): PlainTemplate | undefined {
  const texts = [''];
  const names: string[] = [];
  for (const node of body) {
    if (node.kind === 'text') {
      texts.push((texts.pop() ?? '') + node.text);
      continue;
    }
    if (node.kind !== 'action' || node.pipe.declarations.length > 0 || node.pipe.commands.length !== 1)
      return undefined;
    const [word, ...others] = node.pipe.commands[0]?.args ?? [];
    if (word?.kind !== 'field' || others.length > 0 || word.names.length !== 1) return undefined;
    names.push(word.names[0] ?? '');
    texts.push('');
  }
  return { texts, names };
}
