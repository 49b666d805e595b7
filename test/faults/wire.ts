/** The actions of a damaged backend on the connection, as plain data: bytes, delays, and an end. */
export type Action = Buffer | 'close' | 'reset' | 'hang' | { readonly waitMs: number };

/** A response of the backend without its framing. */
export interface BackendReply {
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

export function head(
  status: number | string,
  headers: Readonly<Record<string, string>>,
  version = 'HTTP/1.1',
): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `${version} ${typeof status === 'number' ? `${status} Text` : status}\r\n${lines.join('')}\r\n`,
    'latin1',
  );
}

/** A body in chunks of up to `size` bytes, with the final chunk. */
export function chunked(body: Buffer, size = Math.max(body.length, 1)): Buffer {
  return Buffer.concat([openChunks(body, size), Buffer.from('0\r\n\r\n')]);
}

/** The chunks of a body, without the final chunk. */
export function openChunks(body: Buffer, size = Math.max(body.length, 1)): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
  }
  return Buffer.concat(parts);
}

/** A response with VictoriaLogs' framing. */
export function whole(
  reply: BackendReply,
  changes: Partial<BackendReply> & { readonly headers?: Readonly<Record<string, string>> } = {},
): Buffer {
  const { status, contentType, body } = { ...reply, ...changes };
  return Buffer.concat([
    head(status, { 'Content-Type': contentType, ...changes.headers, 'Transfer-Encoding': 'chunked' }),
    chunked(body),
  ]);
}

/** The same with a `Content-Length`. */
export function sized(reply: BackendReply, headers: Readonly<Record<string, string>> = {}): Buffer {
  const { status, contentType, body } = reply;
  return Buffer.concat([
    head(status, { 'Content-Type': contentType, 'Content-Length': String(body.length), ...headers }),
    body,
  ]);
}
