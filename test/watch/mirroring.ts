import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseDocument, type YAMLSeq } from 'yaml';

/** The shipped pipeline with Loki's API. */
export const shippedPipeline = fileURLToPath(
  new URL('../../../pipelines/reference-compatible.yaml', import.meta.url),
);

/** The text of that pipeline with a mirror stage in front. */
export async function mirroringPipeline(options: Readonly<Record<string, unknown>>): Promise<string> {
  const document = parseDocument(await readFile(shippedPipeline, 'utf8'));
  const stages = document.get('stages') as YAMLSeq;
  stages.items.unshift(document.createNode({ use: 'mirror', with: options }));
  return document.toString();
}
