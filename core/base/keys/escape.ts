const plain = /^[A-Za-z0-9_-]*$/;

/** Percent-encodes everything but letters, digits, `_` and `-`; different texts stay different. */
export function escapeText(text: string): string {
  if (plain.test(text)) return text;
  try {
    // encodeURIComponent does not encode these.
    return encodeURIComponent(text).replace(/[.!~*'()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  } catch {
    // An unpaired surrogate has no UTF-8 form. encodeURIComponent never writes %u, so this cannot collide.
    return text.replace(/[^A-Za-z0-9_-]/g, (unit) => `%u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }
}
