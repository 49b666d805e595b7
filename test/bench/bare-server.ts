/**
 * A minimal Node server that sends a fixed response for each path, which is the upper bound for a proxy in Node. Its parent process sends
 * the responses.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A fixed response of the bare server. */
export interface BareAnswer {
  readonly path: string;
  /** Alternating names and values. */
  readonly head: string[];
  /** Base64. */
  readonly body: string;
}

process.once('message', (answers: readonly BareAnswer[]) => {
  const byPath = new Map(
    answers.map(({ path, head, body }) => [path, { head, body: Buffer.from(body, 'base64') }]),
  );
  const server = createServer(({ url = '' }, response) => {
    const answer = byPath.get(url);
    response.writeHead(200, answer?.head);
    response.end(answer?.body);
  });
  server.listen(0, '127.0.0.1', () => {
    // A server that listens on TCP has an AddressInfo.
    process.send?.((server.address() as AddressInfo).port);
  });
});
process.once('disconnect', () => process.exit());
