import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Io } from '../program/io.js';

/** Prints a report in a form; with an output file, the report is written there, and its text form is printed. */
export async function giveReport<Form extends string>(
  print: (form: Form | 'text') => string | Promise<string>,
  { form, output }: { readonly form: Form; readonly output: string | undefined },
  io: Pick<Io, 'out'>,
): Promise<void> {
  const report = await print(form);
  if (output !== undefined) await writeInFolder(output, report);
  io.out(output === undefined ? report : await print('text'));
}

/** Writes a file, in a folder that may not exist yet. */
export async function writeInFolder(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
