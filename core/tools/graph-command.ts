import { writeFile } from 'node:fs/promises';
import { keysOfTable } from '../base/order.js';
import { UsageError, type CommandFlag } from '../kernel/options/index.js';
import { graphOf } from './graph/facts.js';
import { graphMermaid } from './graph/mermaid.js';
import { graphSvg } from './graph/svg.js';
import { graphText } from './graph/text.js';
import type { Io } from '../program/io.js';
import { readPipelineArgs } from './pipeline-args.js';
import { FlagReader } from './queries/settings.js';

const printers = { text: graphText, mermaid: graphMermaid, svg: graphSvg };
const forms = keysOfTable(printers);
const flags: readonly CommandFlag[] = [
  { name: 'format', kind: 'string', description: `${forms.join(', ')}; default text` },
  { name: 'output', kind: 'string', description: 'output file; the default is standard output' },
];

/** Shows a pipeline: its stages in order, the slots between them, and the options that differ from their defaults. */
export async function graph(args: readonly string[], io: Io): Promise<number> {
  const help = { usage: 'graph [flags]', flags, about: 'The flags of serve count too.\n' };
  const line = await readPipelineArgs(args, help, io);
  if (line === undefined) return 0;
  const { own, positionals, load } = line;
  const [stray] = positionals;
  if (stray !== undefined) throw new UsageError([`name the file with -pipeline=${stray}`]);
  const read = new FlagReader(own);
  const form = read.oneOf('format', forms, 'text');
  read.finish();
  const pipeline = await load();
  if (pipeline === undefined) return 1;
  const text = printers[form](graphOf(pipeline));
  const output = own.get('output');
  if (output === undefined) io.out(text);
  else await writeFile(output, text);
  return 0;
}
