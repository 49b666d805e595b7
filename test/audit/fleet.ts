import { freePort } from '../core/program/child.js';
import { hourMs, linesOf, minuteMs, type Lab } from './lab.js';
import type { Relay } from './relay.js';
import { ask, type Reply, type Site } from './site.js';
import { expect } from './section.js';

const selector = '{app="web"}';
export const token = 'a secret of the fleet';
export const auth = { 'x-peer-token': token };

export type Flags = Readonly<Record<string, string>>;

export interface Member extends Site {
  readonly address: string;
}

/** Replicas that are peers of each other. */
export async function fleet(
  lab: Lab,
  size: number,
  flags: Flags = {},
  flagsOf: (at: number) => Flags = () => ({}),
): Promise<{ readonly members: readonly Member[]; readonly relay: Relay }> {
  const relay = await lab.relay();
  const ports = await Promise.all(Array.from({ length: size }, () => freePort()));
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  const members: Member[] = [];
  for (const [at, address] of addresses.entries()) {
    const site = await lab.site(
      {
        listen: address,
        'peer-self': address,
        'peer-discovery': 'static',
        'peer-static': addresses.join(','),
        'peer-auth-token': token,
        'peer-discovery-interval': '100ms',
        // Other probes may keep the machine busy.
        'peer-timeout': '20s',
        'peer-patience': '20s',
        ...flags,
        ...flagsOf(at),
      },
      { relay },
    );
    members.push(Object.assign(site, { address }));
  }
  return { members, relay };
}

export async function one(lab: Lab, flags: Flags = {}): Promise<Member> {
  const [member] = (await fleet(lab, 1, flags)).members;
  expect(member !== undefined, 'there is no replica');
  return member;
}

export async function call(
  site: Site,
  path: string,
  method: 'GET' | 'POST' = 'GET',
  body?: string,
): Promise<Reply> {
  return ask(site.url + path, {
    method,
    headers: { ...auth, 'accept-encoding': 'identity' },
    ...(body === undefined ? {} : { body }),
  });
}

export async function ring(
  site: Site,
): Promise<{ readonly peers: readonly string[]; readonly self: string; readonly count: number }> {
  // The test asserts the keys of this document.
  return JSON.parse((await call(site, '/_cache/peers')).text) as never;
}

/** Pushes lines that are three hours old. */
export async function filled(lab: Lab): Promise<void> {
  await lab.push(
    linesOf({ app: 'web' }, 20, 30 * minuteMs).map((line) => ({ ...line, agoMs: line.agoMs + 3 * hourMs })),
  );
}

export function question(lab: Lab, at: number): Readonly<Record<string, string>> {
  return { query: `sum(count_over_time(${selector}[${30 + at}m]))`, time: lab.ago(3 * hourMs) };
}
