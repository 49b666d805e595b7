import type { PeerCacheOptions } from '../../../core/base/options.gen.js';
import { parseAddress } from './address.js';
import type { Found } from './members.js';

/** A way to find the members of a fleet. */
export interface Discovery {
  /** @throws Error when nobody knows who they are now */
  find(): Promise<readonly Found[]>;
  /** Members never change: they are found once. */
  readonly isFixed?: true;
}

/** The way that the options name. Throws an Error for options that lack what it needs. */
export function discoveryOf({ peerStatic }: PeerCacheOptions): Discovery {
  const members = peerStatic.map((text): Found => {
    const address = parseAddress(text);
    if (address === undefined)
      throw new Error(`-peer-static: ${text} is not an address such as 10.0.0.1:3100`);
    return { address };
  });
  return { find: () => Promise.resolve(members), isFixed: true };
}
