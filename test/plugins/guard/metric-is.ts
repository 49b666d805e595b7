import { setTimeout as sleep } from 'node:timers/promises';

/** Looks at a proxy's metrics until one, with its labels, is as wanted; the time bound of the test ends it otherwise. */
export async function metricIs(
  url: string,
  name: string,
  isWanted: (value: number) => boolean,
): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    const at = text.indexOf(`\n${name} `) + 1;
    if (at > 0 && isWanted(Number.parseFloat(text.slice(at + name.length)))) return;
    // To make all metrics costs more than to wait.
    await sleep(250);
  }
}
