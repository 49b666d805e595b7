import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a script of package.json; on failure, throws an error with the output. */
export async function npmRun(folder: string, script: string): Promise<void> {
  const npm = spawn('npm', ['run', '-s', script], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: unknown[] = [];
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk: unknown) => printed.push(chunk));
  const [code] = (await once(npm, 'close')) as readonly unknown[];
  if (code !== 0) throw new Error(`npm run ${script} failed: ${printed.join('')}`);
}
