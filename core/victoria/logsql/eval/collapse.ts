const run = /[0-9A-Fa-f]+/g;
const startsBehind = new Set('_TXxvshm');
const endsBefore = new Set('_TZsmhun');
/** Characters of words; unlike in filters, all others separate words. */
const wordCharacter = /\w/;

/** Replaces decimal and hexadecimal numbers between word boundaries by `<N>`. */
export function collapseNums(text: string, prettify: boolean): string {
  const collapsed = text.replace(run, (digits: string, at: number) => {
    const before = text[at - 1];
    const after = text[at + digits.length];
    const opens = before === undefined || startsBehind.has(before) || !wordCharacter.test(before);
    const closes = after === undefined || endsBefore.has(after) || !wordCharacter.test(after);
    return opens && closes && isNumber(digits) ? '<N>' : digits;
  });
  return prettify ? prettifyNums(collapsed) : collapsed;
}

// Decimal digits are always a number; hexadecimal digits only when there is an even count of at least four.
function isNumber(digits: string): boolean {
  if (/^[0-9]+$/.test(digits)) return true;
  return digits.length >= 4 && digits.length % 2 === 0;
}

const pretty: readonly (readonly [RegExp, string])[] = [
  [/<N>-<N>-<N>-<N>-<N>/g, '<UUID>'],
  [/<N>\.<N>\.<N>\.<N>/g, '<IP4>'],
  [/<N>:<N>:<N>(?:[.,]<N>)?/g, '<TIME>'],
  [/<N>-<N>-<N>/g, '<DATE>'],
  [/<N>\/<N>\/<N>/g, '<DATE>'],
  [/<DATE>[T ]<TIME>(?:Z|[-+]<N>:<N>)?/g, '<DATETIME>'],
];

function prettifyNums(text: string): string {
  return pretty.reduce((current, [form, name]) => current.replace(form, name), text);
}
