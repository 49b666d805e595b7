import { readFile, writeFile } from 'node:fs/promises';

/** Figures of one run by benchmark and name; ratios, so that runs on different machines can be compared. */
type Figures = Readonly<Record<string, Readonly<Record<string, number>>>>;

const figures = new Map<string, Map<string, number>>();

/** Records a ratio for the report of the run. */
export function note(benchmark: string, name: string, ratio: number): void {
  const known = figures.get(benchmark) ?? new Map<string, number>();
  figures.set(benchmark, known.set(name, Math.round(ratio * 1000) / 1000));
}

/** Writes the recorded ratios as JSON. */
export async function writeReport(file: string): Promise<void> {
  const all = Object.fromEntries([...figures].map(([name, of]) => [name, Object.fromEntries(of)]));
  await writeFile(file, `${JSON.stringify(all, null, 2)}\n`);
}

/** Prints the figures of two reports side by side. */
export async function compareReports(oldFile: string, newFile: string): Promise<void> {
  const [before, after] = await Promise.all([read(oldFile), read(newFile)]);
  console.log(`${'ratio'.padEnd(64)}${'old'.padStart(9)}${'new'.padStart(9)}${'new/old'.padStart(9)}`);
  for (const [benchmark, of] of Object.entries(after))
    for (const [name, ratio] of Object.entries(of)) {
      const old = before[benchmark]?.[name];
      const change = old === undefined ? '' : (ratio / old).toFixed(2);
      console.log(
        `${`${benchmark}: ${name}`.padEnd(64)}${(old?.toFixed(2) ?? '').padStart(9)}${ratio.toFixed(2).padStart(9)}${change.padStart(9)}`,
      );
    }
}

async function read(file: string): Promise<Figures> {
  // Written by writeReport.
  return JSON.parse(await readFile(file, 'utf8')) as Figures;
}
