import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a writer process until it has printed a number, and kills it a few milliseconds later.
 * @param writer the module it runs, which prints a number after each write
 * @param args arguments of that module, such as the path it writes to
 * @param atLeast the process is killed once it has printed this number or a larger one
 * @returns the last number it printed
 */
export async function writeAndKill(
  writer: string,
  args: readonly string[],
  delayMs: number,
  atLeast = 0,
): Promise<number> {
  const child = spawn(process.execPath, [writer, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = 0;
  let isToBeKilled = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told = Number(text.trim().split('\n').at(-1));
    if (told < atLeast || isToBeKilled) return;
    isToBeKilled = true;
    setTimeout(() => child.kill('SIGKILL'), delayMs);
  });
  await once(child, 'close');
  return told;
}
