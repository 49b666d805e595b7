import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { copyPackage } from './package-copy.js';
import { applyStep, type Recipe } from './recipes.js';

const run = promisify(execFile);

/** The files that a recipe can change, their build output, and the files that its tests read. */
const parts = {
  copied: [
    ...['core', 'plugins', 'test', 'schemas', 'pipelines', 'docs', 'dist', 'examples'],
    ...['ava.config.js', 'tsconfig.json', 'README.md'],
  ],
  leftOut: /\.map$|\.d\.ts$|\/docs\/(?:images|\.vitepress)$|\/dist\/test\/rooms$/,
  linked: ['node_modules'],
};

/** The output of a command, and whether it succeeded. */
export interface Outcome {
  readonly isWell: boolean;
  readonly output: string;
}

/** A copy of the repository in which recipes are followed. */
export class Workshop {
  readonly folder = copyPackage(parts);
  readonly #changed = new Set<string>();

  /** Applies the steps of a recipe. */
  write({ steps }: Recipe): void {
    for (const step of steps) {
      const file = join(this.folder, step.path);
      const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, applyStep(step, before));
      if (step.path.endsWith('.ts')) this.#changed.add(step.path);
    }
  }

  /** Transpiles the changed sources as the build does, without type checks. */
  async transpile(): Promise<void> {
    await build({
      entryPoints: [...this.#changed],
      absWorkingDir: this.folder,
      format: 'esm',
      outbase: '.',
      outdir: 'dist',
      logLevel: 'silent',
    });
  }

  /** Type-checks everything. */
  checkTypes(): Promise<Outcome> {
    return this.node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--noEmit');
  }

  /** Runs the generator. */
  generate(): Promise<Outcome> {
    return this.node('dist/core/tools/generate/main.js');
  }

  /** Runs test files and folders, all in one process. */
  test(paths: readonly string[]): Promise<Outcome> {
    const together = 'dist/test/house/followed/all.test.js';
    const missing = paths.filter((path) => !existsSync(join(this.folder, path)));
    if (missing.length > 0) return Promise.resolve({ isWell: false, output: `no ${missing.join(', ')}` });
    const files = paths.flatMap((path) => testsAt(this.folder, path));
    mkdirSync(dirname(join(this.folder, together)), { recursive: true });
    writeFileSync(
      join(this.folder, together),
      files.map((file) => `import ${JSON.stringify(join(this.folder, file))};\n`).join(''),
    );
    return this.node('node_modules/ava/entrypoints/cli.mjs', together);
  }

  async node(...args: readonly string[]): Promise<Outcome> {
    // Its ava must not consider itself a part of the ava process that runs this.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AVA')));
    try {
      const { stdout, stderr } = await run(process.execPath, args, {
        cwd: this.folder,
        env,
        maxBuffer: 2 ** 26,
      });
      return { isWell: true, output: stdout + stderr };
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
      return { isWell: false, output: `${stdout}${stderr}${String(error)}` };
    }
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns the test file, or the test files in a folder. */
function testsAt(root: string, path: string): readonly string[] {
  if (path.endsWith('.js')) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => `${path}/${name}`);
}
