/** The value of a JSON text; undefined for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The member of a JSON object; undefined if it is missing, or for any other value. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** The text in `error` of a JSON object, or else the whole text. */
export function errorIn(text: string): string {
  const error = text.startsWith('{') ? memberOf(parsedJson(text), 'error') : undefined;
  return typeof error === 'string' ? error : text.trim();
}
