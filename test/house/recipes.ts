/**
 * Reads the recipes of docs/recipes.md: the files that each writes and changes, and the commands that it runs come from the document, so
 * the
 * test follows the document.
 */

/** A step for one file: its full text, or a diff. */
export interface Step {
  readonly path: string;
  readonly language: string;
  readonly text: string;
}

export interface Recipe {
  readonly title: string;
  readonly steps: readonly Step[];
  /** The lines of its shell blocks. */
  readonly commands: readonly string[];
}

/** A second-level heading, or a code block with the path of the file it shows. Headings inside code blocks do not match. */
const part =
  /^## (?<title>.+)$|^(?:`(?<path>[^`\n]+)`:\n\n)?(?<marks>```+)(?<language>\w+)\n(?<text>[\s\S]*?)^\k<marks>$/gm;

/** The recipes of a document; each second-level heading starts one. */
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
 * The text of a file after a step; `before` is undefined if the file does not exist.
 * @throws Error when the lines to change do not occur exactly once in the file
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
