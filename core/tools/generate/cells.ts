/** A text in a cell of a Markdown table, which a bar would end. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** The same as code. */
export function code(text: string): string {
  return text === '' ? '' : `\`${cell(text)}\``;
}
