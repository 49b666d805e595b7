/** The keys of a JSON line that may hold its message; the first one with a string is used. */
const messageKeys = ['log', 'message', 'msg', 'msg_', '_msg', 'content'];
const blank = /[^ \n\r\t]/g;
const structure = /["{}[:]/g;

/** The message of a line as it is written, with its escapes. The line is read as leniently as Loki reads it: what follows is not looked at. */
export function jsonMessage(line: string): string | undefined {
  const values = valuesOf(line);
  for (const key of messageKeys) {
    const at = values.get(key);
    if (at === undefined || line[at] !== '"') continue;
    const end = stringEnd(line, at);
    if (end >= 0) return line.slice(at + 1, end);
  }
  return undefined;
}

/** Where the values of the message keys begin, in the outermost object, until the line is no JSON. */
function valuesOf(line: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  let isOpen = false;
  let isKeySeen = false;
  for (let at = find(structure, line, 0); at >= 0; at = find(structure, line, at)) {
    const sign = line[at];
    if (sign === '"') {
      const end = stringEnd(line, at);
      const next = end < 0 ? -1 : find(blank, line, end + 1);
      if (next < 0) break;
      if (line[next] !== ':') {
        at = next;
        continue;
      }
      if (!isOpen) break;
      const key = unescaped(line.slice(at + 1, end));
      if (key === undefined) break;
      isKeySeen = true;
      const value = find(blank, line, next + 1);
      if (messageKeys.includes(key) && !values.has(key) && value >= 0) values.set(key, value);
      at = next + 1;
    } else if (sign === '{') {
      if (!isOpen) {
        isOpen = true;
        at += 1;
        continue;
      }
      if (!isKeySeen) break;
      at = blockEnd(line, at, '{', '}');
      if (at < 0) break;
    } else if (sign === '[') {
      at = blockEnd(line, at, '[', ']');
      if (at < 0) break;
    } else break;
  }
  return values;
}

function find(pattern: RegExp, line: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(line)?.index ?? -1;
}

/** The quote that ends the string at an offset, or -1. */
function stringEnd(line: string, from: number): number {
  for (let at = from + 1; at < line.length; at += 1) {
    const sign = line[at];
    if (sign === '"') return at;
    if (sign === '\\') at += 1;
  }
  return -1;
}

/** The offset behind the block at an offset, or -1. */
function blockEnd(line: string, from: number, open: string, close: string): number {
  let level = 0;
  for (let at = from; at < line.length; at += 1) {
    const sign = line[at];
    if (sign === '"') {
      at = stringEnd(line, at);
      if (at < 0) return -1;
    } else if (sign === open) level += 1;
    else if (sign === close) {
      level -= 1;
      if (level === 0) return at + 1;
    }
  }
  return -1;
}

function unescaped(key: string): string | undefined {
  if (!key.includes('\\')) return key;
  try {
    return String(JSON.parse(`"${key}"`));
  } catch {
    return undefined;
  }
}
