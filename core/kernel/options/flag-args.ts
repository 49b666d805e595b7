/**
 * Splits arguments into flags, in all forms operators use: `-name=value`, `--name value`, `-switch`, `-switch=false`, `-a.dotted-name`.
 * yargs takes a single dash as a series of one-letter switches, so this brings everything to one form first.
 */

/** What is known about a flag before its value is parsed. */
export type FlagShape = 'switch' | 'value' | 'unknown';

/** One argument, split. */
export type FlagArg =
  | { readonly kind: 'flag'; readonly name: string; readonly text: string }
  | { readonly kind: 'unknown'; readonly name: string }
  | { readonly kind: 'no-value'; readonly name: string }
  | { readonly kind: 'positional'; readonly text: string };

/** Splits arguments; `--` ends the flags. A flag that needs a value takes the next argument, whatever it looks like. */
export function splitArgs(args: readonly string[], shapeOf: (name: string) => FlagShape): readonly FlagArg[] {
  const split: FlagArg[] = [];
  let at = 0;
  while (at < args.length) {
    const arg = args[at++] ?? '';
    if (arg === '--') {
      for (const text of args.slice(at)) split.push({ kind: 'positional', text });
      break;
    }
    const match = /^(?:--|-(?=[A-Za-z_]))([^=]+)(?:=([\s\S]*))?$/.exec(arg);
    if (match === null) {
      split.push({ kind: 'positional', text: arg });
      continue;
    }
    const name = match[1] ?? '';
    const text = match[2];
    const shape = shapeOf(name);
    if (shape === 'unknown') split.push({ kind: 'unknown', name });
    else if (text !== undefined) split.push({ kind: 'flag', name, text });
    else if (shape === 'switch') {
      // Operators write `-switch false`, so a plain boolean word is taken as the value.
      const next = args[at];
      const isWord = next === 'true' || next === 'false';
      if (isWord) at++;
      split.push({ kind: 'flag', name, text: isWord ? next : 'true' });
    } else if (at < args.length) split.push({ kind: 'flag', name, text: args[at++] ?? '' });
    else split.push({ kind: 'no-value', name });
  }
  return split;
}
