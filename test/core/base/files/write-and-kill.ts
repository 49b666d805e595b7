import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Lets a process write until it has told of a number, and a few milliseconds more.
 * @param writer the module it runs, which prints a number after each time it has written
 * @param args of that module, such as the path it writes to
 * @param atLeast the number it is killed after
 * @returns the last number it told of
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
