import { apps } from './mix.js';

export const dataMinutes = 60;
const rowsPerBatch = 5_000;
const levels = ['info', 'info', 'info', 'warn', 'error', 'debug'] as const;

/** Loads the rows of an hour into a backend for one tenant, spread evenly over the streams. */
export async function load(url: string, account: string, rows: number, endMs: number): Promise<void> {
  const stepMs = (dataMinutes * 60_000) / rows;
  for (let from = 0; from < rows; from += rowsPerBatch) {
    const lines: string[] = [];
    for (let index = from; index < Math.min(rows, from + rowsPerBatch); index += 1) {
      const atMs = endMs - dataMinutes * 60_000 + index * stepMs;
      const level = levels[index % levels.length];
      lines.push(
        JSON.stringify({
          _time: `${Math.floor(atMs)}${String(index % 1_000_000).padStart(6, '0')}`,
          _msg: JSON.stringify({
            msg: 'request served',
            path: `/api/items/${index % 400}`,
            status: 200 + (index % 7),
            took: (index * 37) % 900,
          }),
          app: `app-${index % apps}`,
          level,
        }),
      );
    }
    const response = await fetch(`${url}/insert/jsonline?_stream_fields=app,level`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/stream+json', AccountID: account, ProjectID: '0' },
      body: lines.join('\n'),
    });
    if (response.status !== 200) throw new Error(`the backend took no rows: ${await response.text()}`);
    await response.arrayBuffer();
  }
}
