/**
 * Recipes as docs/recipes.md tells them: what each writes, changes and runs is read out of the document, so that the document is what a
 * test follows.
 */

/** One step on a file: the whole of it, or lines that change. */
export interface Step {
  readonly path: string;
  readonly language: string;
  readonly text: string;
}

export interface Recipe {
  readonly title: string;
  readonly steps: readonly Step[];
  /** Lines of its shell blocks. */
  readonly commands: readonly string[];
}

/** A heading of the second level, or a block with the path of the file that it shows. Headings in blocks are found by nobody. */
const part =
  /^## (?<title>.+)$|^(?:`(?<path>[^`\n]+)`:\n\n)?(?<marks>```+)(?<language>\w+)\n(?<text>[\s\S]*?)^\k<marks>$/gm;

/** The recipes of a document: each heading of the second level begins one. */
export function readRecipes(document: string): readonly Recipe[] {
  const recipes: { readonly title: string; readonly steps: Step[]; readonly commands: string[] }[] = [];
  for (const { groups } of document.matchAll(part)) {
    const { title, path, language = '', text = '' } = groups ?? {};
    if (title !== undefined) recipes.push({ title, steps: [], commands: [] });
    else if (path !== undefined) recipes.at(-1)?.steps.push({ path, language, text });
    else if (language === 'sh') recipes.at(-1)?.commands.push(...text.trimEnd().split('\n'));
  }
  return recipes;
}

/**
 * The text of a file after a step; `before` is undefined while there is no file.
 * @throws Error when the lines that a change is to be made at do not stand exactly once in the file
 */
export function applyStep({ path, language, text }: Step, before: string | undefined): string {
  if (language !== 'diff') {
    if (before !== undefined) throw new Error(`${path} exists, and the recipe writes it anew`);
    return text;
  }
  if (before === undefined) throw new Error(`${path} does not exist, and the recipe changes it`);
  const lines = text.trimEnd().split('\n');
  const side = (other: string): string =>
    lines
      .filter((line) => !line.startsWith(other))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  const [from, to] = [side('+'), side('-')];
  if (from === '') return before + to;
  const parts = before.split(from);
  if (parts.length !== 2)
    throw new Error(`${path}: these lines stand ${String(parts.length - 1)} times in it, not once:\n${from}`);
  return parts.join(to);
}
