/** A bare Node server that sends the same bytes for a path each time: as fast as a proxy in Node can be. Told what to send by its parent. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer of the bare server. */
export interface BareAnswer {
  readonly path: string;
  /** Names and values in turn. */
  readonly head: string[];
  /** In base64. */
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
