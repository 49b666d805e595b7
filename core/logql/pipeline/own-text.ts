const shortestSlice = 13;

/** Copies a text. In V8 a slice keeps its whole line alive, so text that is kept longer than its line must be copied. */
export function ownText(text: string): string {
  return text.length < shortestSlice ? text : `\u0000${text}`.slice(1);
}
