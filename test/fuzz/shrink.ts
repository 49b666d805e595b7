import type { FuzzRequest } from './requests.js';

const maxTries = 80;

/** Removes the parts of a request that are not needed for the offence. */
export async function shrink(
  request: FuzzRequest,
  offends: (smaller: FuzzRequest) => Promise<boolean>,
): Promise<FuzzRequest> {
  let best = request;
  let tries = 0;
  const attempt = async (smaller: FuzzRequest): Promise<boolean> => {
    tries += 1;
    if (tries > maxTries || !(await offends(smaller))) return false;
    best = smaller;
    return true;
  };
  for (let at = best.params.length - 1; at >= 0; at -= 1)
    await attempt({ ...best, params: best.params.filter((_pair, place) => place !== at) });
  for (const name of Object.keys(best.headers)) {
    const headers = Object.fromEntries(Object.entries(best.headers).filter(([each]) => each !== name));
    await attempt({ ...best, headers });
  }
  for (const [place, [name]] of best.params.entries()) {
    for (let size = 1 << 10; size >= 1; size >>= 1) {
      for (let at = 0; at < (best.params[place]?.[1].length ?? 0) && tries < maxTries;) {
        const value = best.params[place]?.[1] ?? '';
        if (size > value.length) break;
        const shorter = value.slice(0, at) + value.slice(at + size);
        const params = best.params.map((pair, index) =>
          index === place ? ([name, shorter] as const) : pair,
        );
        if (!(await attempt({ ...best, params }))) at += size;
      }
    }
  }
  return best;
}
