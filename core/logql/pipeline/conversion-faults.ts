import { lowered } from '../regexp/folding.js';
import { parseGoFloat } from '../values/go-float.js';

/** The largest whole number that Go reads before it looks for the unit. */
const mostWhole = 2n ** 63n;

/** Why Go's time.ParseDuration refuses a text. */
export function durationFault(text: string): string {
  const quoted = quoteAscii(text);
  let rest = /^[+-]/.test(text) ? text.slice(1) : text;
  if (rest === '') return `time: invalid duration ${quoted}`;
  while (rest !== '') {
    const [all = '', number = '', unit = ''] = /^([0-9]*\.?[0-9]*)([^0-9.]*)/.exec(rest) ?? [];
    const whole = /^0*([0-9]*)/.exec(number)?.[1] ?? '';
    const isReadable = number !== '' && number !== '.' && whole.length <= 19 && BigInt(whole) <= mostWhole;
    if (!isReadable) return `time: invalid duration ${quoted}`;
    if (unit === '') return `time: missing unit in duration ${quoted}`;
    if (!/^(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h)$/.test(unit)) {
      return `time: unknown unit ${quoteAscii(unit)} in duration ${quoted}`;
    }
    rest = rest.slice(all.length);
  }
  return `time: invalid duration ${quoted}`;
}

/** Why a text is not a size. */
export function bytesFault(text: string): string {
  const [, number = '', unit = ''] = /^([\p{Nd}.,]*)(.*)$/su.exec(text) ?? [];
  const read = parseGoFloat(number.replaceAll(',', ''));
  if (!read.ok) return read.error;
  const name = lowered(unit.trim());
  return /^(?:|b|[kmgtpe]i?b?)$/.test(name) ? `too large: ${text}` : `unhandled size name: ${name}`;
}

/** Quotes as Go's time package does: non-ASCII bytes and control characters in hexadecimal. */
function quoteAscii(text: string): string {
  let quoted = '';
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    if (character === '"' || character === '\\') quoted += `\\${character}`;
    else if (byte < 0x20 || byte >= 0x80) quoted += `\\x${byte.toString(16).padStart(2, '0')}`;
    else quoted += character;
  }
  return `"${quoted}"`;
}
