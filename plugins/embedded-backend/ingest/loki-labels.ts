import { unquote } from '../../../core/victoria/logsql/unquote.js';

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
    const value = unquote(match[2] ?? '', 0);
    if (value === undefined) throw new Error(`cannot parse labels ${JSON.stringify(text)}`);
    pairs.push([match[1] ?? '', value.text]);
  }
  if (body.slice(end).trim() !== '') throw new Error(`cannot parse labels ${JSON.stringify(text)}`);
  return pairs;
}
