import { slipsBefore, type Slip } from './slips.js';

/** How bad a text is: where the parser fails first, counted in lines from 0, or how many faults its frame has. */
export type Verdict =
  | { readonly kind: 'no-yaml'; readonly line: number }
  | { readonly kind: 'yaml'; readonly frameFaults: number };

/** How many ways to mend a text are tried, and how long it may be: each is parsed. */
const maxTries = 80;
const maxLength = 65_536;

/** A slip that explains what is wrong, and the text without it. */
export interface Mended {
  readonly slip: Slip;
  readonly text: string;
}

/**
 * The slip of the pen on one line that explains best why a text is no pipeline: the parser's own complaint often stands far from it. Each
 * guess is tried: the text must parse without the slip, or at least further. Undefined when no guess helps.
 */
export function mend(
  text: string,
  now: Verdict,
  symptom: number,
  judge: (text: string) => Verdict,
): Mended | undefined {
  if (text.length > maxLength) return undefined;
  const lines = text.split('\n');
  let best: { readonly mended: Mended; readonly verdict: Verdict } | undefined;
  let tries = 0;
  for (const slip of slipsBefore({ line: symptom, parses: now.kind === 'yaml' }, lines)) {
    tries += 1;
    if (tries > maxTries) break;
    const mended = lines.with(slip.line, slip.meant).join('\n');
    const verdict = judge(mended);
    if (!isBetter(verdict, best?.verdict ?? now, slip.line)) continue;
    best = { mended: { slip, text: mended }, verdict };
    if (verdict.kind === 'yaml' && verdict.frameFaults === 0) break;
  }
  return best?.mended;
}

/** Whether a text is better than another; a parser that fails further below helps only when it gets beyond the mended line. */
function isBetter(a: Verdict, b: Verdict, line: number): boolean {
  if (a.kind === 'yaml') return b.kind === 'no-yaml' || a.frameFaults < b.frameFaults;
  return b.kind === 'no-yaml' && a.line > b.line && a.line > line;
}
