import { setTimeout as sleep } from 'node:timers/promises';

/** Polls the proxy's metrics until one has the expected value; the timeout of the test ends it otherwise. */
export async function metricIs(
  url: string,
  name: string,
  isWanted: (value: number) => boolean,
): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    const at = text.indexOf(`\n${name} `) + 1;
    if (at > 0 && isWanted(Number.parseFloat(text.slice(at + name.length)))) return;
    // Rendering all metrics costs more than waiting.
    await sleep(250);
  }
}
