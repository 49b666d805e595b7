const ESCAPES = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

/** Parses label text such as `{a="x",b="y"}`, the form of labels in protobuf pushes; throws on malformed text. */
export function parsePushedLabels(text: string): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}'))
    throw new Error(`cannot parse labels ${JSON.stringify(text)}`);
  const body = trimmed.slice(1, -1);
  const pair = /\s*([^\s=,"]+)\s*=\s*("(?:[^"\\]|\\.)*"|`[^`]*`)\s*(?:,|$)/gsy;
  let end = 0;
  for (const match of body.matchAll(pair)) {
    end = match.index + match[0].length;
    pairs.push([match[1] ?? '', unquote(match[2] ?? '')]);
  }
  if (body.slice(end).trim() !== '') throw new Error(`cannot parse labels ${JSON.stringify(text)}`);
  return pairs;
}

function unquote(quoted: string): string {
  const inner = quoted.slice(1, -1);
  if (quoted.startsWith('`')) return inner;
  return inner.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/gs,
    (_all: string, x?: string, u?: string, long?: string, c?: string) => {
      const hex = x ?? u ?? long;
      if (hex !== undefined) return String.fromCodePoint(Math.min(parseInt(hex, 16), 0x10ffff));
      return ESCAPES.get(c ?? '') ?? c ?? '';
    },
  );
}
