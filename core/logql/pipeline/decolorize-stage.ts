import { compileRegExp } from '../../regexp/index.js';
import type { RunStage } from './types.js';

// The sequences of ECMA-48 as terminals' libraries know them: a control sequence, or one that ends with BEL (a title).
const sequences =
  '[\\x{1B}\\x{9B}][\\[\\]()#;?]*' +
  '(?:(?:(?:[a-zA-Z\\d]*(?:;[a-zA-Z\\d]*)*)?\\x{07})|(?:(?:\\d{1,4}(?:;\\d{0,4})*)?[\\dA-PRZcf-ntqry=><~]))';

/** `| decolorize`: takes colours and other terminal sequences out of the line. */
export function compileDecolorize(): RunStage {
  const compiled = compileRegExp(sequences);
  return (work) => {
    const { line } = work;
    if (line.includes('\u001b') || line.includes('\u009b')) work.line = compiled.replaceAllLiteral(line, '');
    return true;
  };
}
