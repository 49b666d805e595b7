import { brokenAnswer } from './failures.js';
import type { BackendRow } from './types.js';

const lineFeed = 0x0a;

/**
 * Splits a byte stream into rows, one batch per chunk. Chunks are pulled, so a reader that stops reading stops the backend.
 * @throws ApiError for a line that is not a JSON object: the backend failed after it had begun to answer
 */
export async function* readRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly BackendRow[]> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed);
    if (end < 0) {
      rest.push(chunk);
      continue;
    }
    const whole = chunk.subarray(0, end);
    const text =
      rest.length === 0 ? whole.toString('utf8') : Buffer.concat([...rest, whole]).toString('utf8');
    rest = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    const rows = parseLines(text);
    if (rows.length > 0) yield rows;
  }
  const last = parseLines(Buffer.concat(rest).toString('utf8'));
  if (last.length > 0) yield last;
}

function parseLines(text: string): readonly BackendRow[] {
  const rows: BackendRow[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    rows.push(parseRow(line));
  }
  return rows;
}

function parseRow(line: string): BackendRow {
  if (!line.startsWith('{')) throw brokenAnswer(line);
  try {
    // The backend sends flat objects of strings (backend.md, section 3); whatever else it is cannot be told from a broken answer.
    return JSON.parse(line) as BackendRow;
  } catch {
    throw brokenAnswer(line);
  }
}
