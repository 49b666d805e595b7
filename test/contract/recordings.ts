import { readFile } from 'node:fs/promises';

/** A recorded request with the response of the real server. */
export interface Recording {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly compare: 'rows' | 'rows-ordered' | 'json' | 'set' | 'names' | 'subset' | 'text' | 'error';
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A response of the server under test. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const FOLDER = 'test/data/backend';

/** Reads all recordings; the working directory must be the package folder. */
export async function readRecordings(): Promise<Recording[]> {
  const text = await readFile(`${FOLDER}/backend-golden.jsonl`, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recording);
}

/** Stores the rows of the recordings, and waits until they are visible. */
export async function loadData(url: string): Promise<void> {
  const text = await readFile(`${FOLDER}/backend-data.jsonl`, 'utf8');
  const few = text.split('\n').slice(0, 20).join('\n');
  await push(url, text, {});
  await push(url, few, { AccountID: '7', ProjectID: '3' });
  for (let tries = 0; tries < 50; tries++) {
    const reply = await ask(url, {
      method: 'POST',
      path: '/select/logsql/query',
      params: { query: '* | stats count() c' },
      headers: {},
    });
    if (reply.body.includes('"501"')) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the 501 rows of the contract did not become readable');
}

async function push(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(`${url}/insert/jsonline?_stream_fields=app,env,instance,service.name`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/stream+json', ...headers },
  });
  if (response.status !== 200)
    throw new Error(`the data was refused: ${response.status} ${await response.text()}`);
}

/** Sends a request: parameters in the query string of a GET, in the form body of a POST. */
export async function ask(
  url: string,
  request: Pick<Recording, 'method' | 'path' | 'params' | 'headers'>,
): Promise<Reply> {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(request.params)) {
    for (const item of typeof value === 'string' ? [value] : value) params.append(name, item);
  }
  const isGet = request.method === 'GET';
  const query = isGet && params.size > 0 ? `?${params.toString()}` : '';
  const response = await fetch(`${url}${request.path}${query}`, {
    method: request.method,
    headers: request.headers,
    ...(isGet ? {} : { body: params }),
  });
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    body: await response.text(),
  };
}
