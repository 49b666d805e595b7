import { withoutInvalid } from '../../logql/pipeline/json-value.js';

const longDecimal = /^-?\d+\.\d+$/;
/** For LogsQL: matches every text that `repairDecimal` may change, and some more. */
export const longDecimalPattern = '^-?[0-9.]{17,}$';
/** For LogsQL: matches values such as 1_000, which the backend groups as 1000. */
export const rewrittenPattern = '^[0-9]+_[0-9_]*$';
/** For LogsQL: matches every value that is shown with spaces in place of invalid bytes. */
export const brokenPattern = '\\x{fffd}';

/** True if a text contains the replacement character for invalid bytes; no value is shown with it. */
export function isBroken(text: string): boolean {
  return text.includes('\ufffd');
}

/** A value of structured metadata as Loki stores it: with a space in place of invalid bytes, and with the decimal that was sent. */
export function shownValue(stored: string): string {
  return withoutInvalid(repairDecimal(stored));
}
const maxDigits = 15;

/**
 * Restores the decimal that was pushed. VictoriaLogs stores a column of decimals as digits times a power of ten and multiplies in floating
 * point on reading, so that 0.3 becomes 0.30000000000000004. Returns the shortest decimal that would be read as this text; any other text
 * is unchanged.
 */
export function repairDecimal(text: string): string {
  if (text.length < 17 || !longDecimal.test(text)) return text;
  const value = Number(text);
  // The backend prints the shortest digits that identify the number.
  if (digitsOf(text) < 16 || String(value) !== text) return text;
  for (let digits = 1; digits <= maxDigits; digits += 1) {
    const whole = Math.round(value * 10 ** digits);
    if (!Number.isSafeInteger(whole)) return text;
    if (whole * Number(`1e-${digits}`) === value) return (whole / 10 ** digits).toFixed(digits);
  }
  return text;
}

function digitsOf(text: string): number {
  return text.replace(/^-?0*\.?0*/, '').replace('.', '').length;
}
