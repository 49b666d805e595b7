import { endOfBlock, endOfString, unescapedKey } from '../../../logql/pipeline/json-value.js';

/** The keys of a JSON line that may hold its message; the first one with a string is used. */
const messageKeys = ['log', 'message', 'msg', 'msg_', '_msg', 'content'];
const blank = /[^ \n\r\t]/g;
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const structure = /["{}[:]/g;

/**
 * The message of a line as it is written, with its escapes. The line is read as leniently as Loki reads it: what follows is not looked at.
 */
export function jsonMessage(line: string): string | undefined {
  const values = valuesOf(line);
  for (const key of messageKeys) {
    const at = values.get(key);
    if (at === undefined || line[at] !== '"') continue;
    const end = endOfString(line, at, line.length);
    if (end >= 0) return line.slice(at + 1, end);
  }
  return undefined;
}

/** Where the values of the message keys begin, in the outermost object, up to the point where the line stops being JSON. */
function valuesOf(line: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  let isOpen = false;
  let isKeySeen = false;
  for (let at = find(structure, line, 0); at >= 0; at = find(structure, line, at)) {
    const sign = line[at];
    if (sign === '"') {
      const end = endOfString(line, at, line.length);
      const next = end < 0 ? -1 : find(blank, line, end + 1);
      if (next < 0) break;
      if (line[next] !== ':') {
        at = next;
        continue;
      }
      if (!isOpen) break;
      const key = unescapedKey(line.slice(at + 1, end));
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
      at = endOfBlock(line, at, line.length, openBrace, closeBrace);
      if (at < 0) break;
    } else if (sign === '[') {
      at = endOfBlock(line, at, line.length, openBracket, closeBracket);
      if (at < 0) break;
    } else break;
  }
  return values;
}

function find(pattern: RegExp, line: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(line)?.index ?? -1;
}
