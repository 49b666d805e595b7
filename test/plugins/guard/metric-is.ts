import { setTimeout as sleep } from 'node:timers/promises';

/** Looks at a proxy's metrics until one, with its labels, is as wanted; the time bound of the test ends it otherwise. */
export async function metricIs(
  url: string,
  name: string,
  isWanted: (value: number) => boolean,
): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    if (isWanted(Number(line?.slice(name.length + 1) ?? NaN))) return;
    await sleep(50);
  }
}
