import { Watched } from '../watch/watched.js';
import { Wire, type WireState } from './wire.js';

/** Peer discovery for the replicas; a wire has the address under which a replica is known. */
export interface Discovery {
  /** A wire for the replica with this number, starting at 0. */
  openWire(number: number): Promise<Wire>;
  /** The flags of a replica. */
  flags(self: string): readonly string[];
  /** Sets the replicas that run now. */
  tell(addresses: readonly string[]): void;
  close(): void;
}

export const peerToken = 'fleet-token';

/** One replica: a separate process, which the others reach through its wire. */
export class Replica {
  readonly #flags: readonly string[];
  readonly #wire: Wire;
  #program: Watched | undefined;
  /** True if a load balancer would send it requests. */
  isInService = false;

  constructor(wire: Wire, flags: readonly string[]) {
    this.#wire = wire;
    this.#flags = flags;
  }

  get peerAddress(): string {
    return this.#wire.address;
  }

  get url(): string {
    if (this.#program === undefined) throw new Error('this replica does not run');
    return this.#program.url;
  }

  get isRunning(): boolean {
    return this.#program !== undefined;
  }

  async start(): Promise<void> {
    this.#program = await Watched.start(['serve', ...this.#flags]);
    this.#wire.leadTo(Number(new URL(this.#program.url).port));
    this.isInService = true;
  }

  async kill(): Promise<void> {
    this.isInService = false;
    this.#wire.leadTo(0);
    this.#wire.state = 'cut';
    await this.#program?.kill();
    this.#program = undefined;
    this.#wire.state = 'whole';
  }

  /** Sends SIGSTOP: its sockets stay open and nothing responds. */
  freeze(): void {
    this.isInService = false;
    if (this.#program !== undefined) process.kill(this.#program.pid, 'SIGSTOP');
  }

  thaw(): void {
    if (this.#program !== undefined) process.kill(this.#program.pid, 'SIGCONT');
    this.isInService = true;
  }

  /** The state of the connection from other replicas; clients can still reach it. */
  set wire(state: WireState) {
    this.#wire.state = state;
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.url}/metrics`)).text();
  }

  async stop(): Promise<void> {
    await this.#program?.stop();
    this.#program = undefined;
    this.#wire.close();
  }
}

/** Several replicas in front of one backend. */
export class Fleet {
  readonly replicas: readonly Replica[];
  readonly #discovery: Discovery | undefined;

  private constructor(replicas: readonly Replica[], discovery: Discovery | undefined) {
    this.replicas = replicas;
    this.#discovery = discovery;
  }

  /**
   * @param size maximum number of replicas
   * @param running number of replicas to start now
   * @param discovery undefined for replicas that do not know each other
   */
  static async open(
    size: number,
    flags: readonly string[],
    discovery?: Discovery,
    running = size,
  ): Promise<Fleet> {
    const wires: Wire[] = [];
    for (let number = 0; number < size; number += 1)
      wires.push(await (discovery?.openWire(number) ?? Wire.open()));
    discovery?.tell(wires.slice(0, running).map(({ address }) => address));
    const replicas = wires.map(
      (wire) =>
        new Replica(wire, [
          '-listen=127.0.0.1:0',
          '-admin-listen=127.0.0.1:0',
          '-server.register-instrumentation=true',
          ...(discovery === undefined
            ? []
            : [
                `-peer-auth-token=${peerToken}`,
                `-peer-self=${wire.address}`,
                ...discovery.flags(wire.address),
              ]),
          ...flags,
        ]),
    );
    const fleet = new Fleet(replicas, discovery);
    try {
      await Promise.all(replicas.slice(0, running).map((replica) => replica.start()));
    } catch (error) {
      await fleet.close();
      throw error;
    }
    return fleet;
  }

  /** Updates the running replicas, for discoveries that do not use flags. */
  announce(): void {
    this.#discovery?.tell(
      this.replicas.filter(({ isRunning }) => isRunning).map(({ peerAddress }) => peerAddress),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    this.#discovery?.close();
  }
}
