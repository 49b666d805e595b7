import { type JsonValue, parseJson, writeJson } from '../../../core/victoria/logsql/eval/json.js';

/**
 * Flattens one JSON object into text fields as the ingestion endpoints do: nested objects become dotted names, arrays their compact JSON
 * text, numbers and booleans their text as written; null, empty text and empty objects are dropped. Of equal names, the last one is used.
 * Undefined if the text is not one JSON object.
 */
export function flattenLine(text: string): Map<string, string> | undefined {
  const value = parseJson(text);
  if (value?.kind !== 'object') return undefined;
  const fields = new Map<string, string>();
  flattenInto(fields, value, '');
  return fields;
}

function flattenInto(
  fields: Map<string, string>,
  { members }: JsonValue & { readonly kind: 'object' },
  prefix: string,
): void {
  for (const [name, value] of members) {
    if (value.kind === 'object') flattenInto(fields, value, `${prefix}${name}.`);
    else {
      const text = value.kind === 'array' ? writeJson(value, withFewEscapes) : scalarText(value);
      if (text !== '') fields.set(prefix + name, text);
    }
  }
}

/** A scalar in an array: strings have only the escapes that they need. */
function withFewEscapes({ text, json }: JsonValue & { readonly kind: 'scalar' }): string {
  return json.startsWith('"') ? JSON.stringify(text) : json;
}

/** The real server stores columns of numbers as floats, so `0.0` reads back as `0`; significant digits are kept. */
function scalarText({ text, json }: JsonValue & { readonly kind: 'scalar' }): string {
  return /^-?\d+\.\d*0$/.test(json) ? text.replace(/\.?0+$/, '') : text;
}
