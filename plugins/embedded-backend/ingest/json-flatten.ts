/**
 * Flattens one JSON object into text fields as the ingestion endpoints do: nested objects become dotted names, arrays their compact JSON
 * text, numbers and booleans their text as written; null, empty text and empty objects are dropped. Of equal names, the last one is used.
 * Undefined if the text is not one JSON object.
 */
export function flattenLine(text: string): Map<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const fields = new Map<string, string>();
    const hasNumbers = flattenInto(fields, value, '');
    // `10.0` and 20-digit numbers keep their digits; only lines with numbers need the second pass.
    return hasNumbers ? flattenKeepingNumbers(text) : fields;
  } catch {
    // Not JSON, or nested so deeply that the stack overflows.
    return undefined;
  }
}

/** Fills `fields`; returns true if there was a number, whose digits `JSON.parse` may have changed. */
function flattenInto(fields: Map<string, string>, object: object, prefix: string): boolean {
  let hasNumbers = false;
  for (const [key, item] of Object.entries(object) as [string, unknown][]) {
    const name = prefix + key;
    if (typeof item === 'string') {
      if (item !== '') fields.set(name, item);
    } else if (typeof item === 'boolean') {
      fields.set(name, String(item));
    } else if (Array.isArray(item)) {
      hasNumbers ||= item.length > 0;
      fields.set(name, JSON.stringify(item));
    } else if (isObject(item)) {
      hasNumbers = flattenInto(fields, item, `${name}.`) || hasNumbers;
    } else if (item !== null) {
      hasNumbers = true;
    }
  }
  return hasNumbers;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const SPACE = /[ \t\r\n]*/y;

/** The real server stores columns of numbers as floats, so `0.0` reads back as `0`; significant digits are kept. */
function trimFraction(number: string): string {
  return /^-?\d+\.\d*0$/.test(number) ? number.replace(/\.?0+$/, '') : number;
}

/** Second pass over text that `JSON.parse` has accepted, keeping numbers as written. */
function flattenKeepingNumbers(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  let at = 0;
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };
  const peek = (): string => {
    match(SPACE);
    return text[at] ?? '';
  };
  const readString = (): string => {
    const raw = match(STRING);
    if (!raw.includes('\\')) return raw.slice(1, -1);
    // The text was accepted as JSON, so a quoted piece of it parses to a string.
    return JSON.parse(raw) as string;
  };
  const readScalar = (): string => {
    const c = text[at] ?? '';
    if (c === '"') return readString();
    const word = c === 't' ? 'true' : c === 'f' ? 'false' : c === 'n' ? 'null' : '';
    if (word === '') return match(NUMBER);
    at += word.length;
    return word === 'null' ? '' : word;
  };
  /** The compact text of an array or object inside an array. */
  const readCompact = (): string => {
    const c = peek();
    if (c !== '[' && c !== '{') {
      const isNull = c === 'n';
      const scalar = readScalar();
      return c === '"' ? JSON.stringify(scalar) : isNull ? 'null' : scalar;
    }
    const close = c === '[' ? ']' : '}';
    at++;
    const items: string[] = [];
    while (peek() !== close) {
      if (text[at] === ',') {
        at++;
        continue;
      }
      let name = '';
      if (c === '{') {
        name = `${JSON.stringify(readString())}:`;
        peek();
        at++;
      }
      items.push(name + readCompact());
    }
    at++;
    return c + items.join(',') + close;
  };
  const readObject = (prefix: string): void => {
    at++;
    while (peek() !== '}') {
      if (text[at] === ',') {
        at++;
        continue;
      }
      const name = prefix + readString();
      peek();
      at++;
      const c = peek();
      if (c === '{') readObject(`${name}.`);
      else {
        const value = c === '[' ? readCompact() : c === '"' ? readString() : trimFraction(readScalar());
        if (value !== '') fields.set(name, value);
      }
    }
    at++;
  };
  peek();
  readObject('');
  return fields;
}
