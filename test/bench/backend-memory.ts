import { startProgram } from './program.js';

const millions = 2;
const batchRows = 10_000;
const startNs = 1_791_676_800_000_000_000n;

/**
 * Pushes two million rows to an embedded backend in its own process; prints memory along the way, and the behavior beyond the storage
 * limit.
 */
export async function run(): Promise<void> {
  const backend = await startProgram(['backend', '-listen=127.0.0.1:0']);
  try {
    const { url } = backend;
    for (let row = 0; row < millions * 1_000_000; row += batchRows) {
      const status = await push(url, row);
      if (status !== 200) throw new Error(`push at row ${row} was answered ${status}`);
      if ((row + batchRows) % 500_000 === 0) {
        console.log(`${row + batchRows} rows: ${backend.memory().nowMiB} MiB resident`);
      }
    }
    let past = millions * 1_000_000;
    let status = 200;
    while (status === 200 && past < 20_000_000) {
      status = await push(url, past);
      past += batchRows;
    }
    const health = await fetch(`${url}/health`);
    console.log(
      `past the bound, at ${past} rows: push ${status}, /health ${health.status}, ${backend.memory().nowMiB} MiB resident`,
    );
  } finally {
    await backend.stop();
  }
}

async function push(url: string, from: number): Promise<number> {
  const rows: string[] = [];
  for (let row = from; row < from + batchRows; row += 1) {
    rows.push(
      JSON.stringify({
        _time: (startNs + BigInt(row) * 1_000_000n).toString(),
        _msg: `request ${row % 10_000} done in ${(row * 37) % 900} ms by worker ${row % 13} path=/api/v1/items/${row}`,
        app: `app-${row % 50}`,
        level: row % 7 === 0 ? 'error' : 'info',
      }),
    );
  }
  const answer = await fetch(`${url}/insert/jsonline?_stream_fields=app`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/stream+json' },
    body: rows.join('\n'),
  });
  await answer.arrayBuffer();
  return answer.status;
}
