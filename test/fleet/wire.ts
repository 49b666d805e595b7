import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The state of the connection: bytes pass, pass with a delay in milliseconds, or no longer pass. */
export type WireState = 'whole' | 'cut' | { readonly lateMs: number };

/** The connection from the other replicas to one of them: a TCP relay whose state a test changes. */
export class Wire {
  /** The address of the replica for other replicas: `host:port`. */
  readonly address: string;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #state: WireState = 'whole';
  #to = 0;

  private constructor(server: Server) {
    this.#server = server;
    // A server that listens on TCP has an address object.
    const { address, port } = server.address() as AddressInfo;
    this.address = `${address}:${port}`;
  }

  /** Listens before the replica starts, because its address is part of the replica's flags. */
  static async open(host = '127.0.0.1', port = 0): Promise<Wire> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
    const wire = new Wire(server);
    server.on('connection', (socket) => wire.#join(socket));
    return wire;
  }

  leadTo(port: number): void {
    this.#to = port;
  }

  set state(state: WireState) {
    this.#state = state;
    if (state === 'cut') for (const socket of this.#open) socket.destroy();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
  }

  #join(near: Socket): void {
    if (this.#state === 'cut' || this.#to === 0) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: '127.0.0.1', port: this.#to, noDelay: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#open.add(from);
      from.on('error', () => undefined);
      from.once('close', () => {
        this.#open.delete(from);
        to.destroy();
      });
      from.on('data', (bytes: Buffer) => this.#pass(bytes, to));
      from.once('end', () => this.#pass(undefined, to));
    }
  }

  #pass(bytes: Buffer | undefined, to: Socket): void {
    const write = (): void => {
      if (bytes === undefined) to.end();
      else if (!to.destroyed) to.write(bytes);
    };
    // Timers with equal delays fire in the order in which they were set.
    if (typeof this.#state === 'object') setTimeout(write, this.#state.lateMs);
    else write();
  }
}
