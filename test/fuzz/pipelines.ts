import { readdirSync, readFileSync } from 'node:fs';
import { formatFindings, formats } from '../../core/kernel/check/index.js';
import { Random } from '../watch/random.js';
import { checkText } from '../core/kernel/check/fake-built-ins.js';
import { mutate } from './logql.js';

/** Mutates pipeline files and runs the checker: each finding must have a position in the file, and nothing may throw. */
export async function fuzzPipelines(
  seed: number,
  count: number,
  print: (text: string) => void,
): Promise<number> {
  const files = readdirSync('pipelines').filter((name) => name.endsWith('.yaml'));
  const texts = files.map((name) => readFileSync(`pipelines/${name}`, 'utf8'));
  let offences = 0;
  for (let step = 0; step < count; step += 1) {
    const random = Random.of(seed, step);
    const text = changed(random, random.pick(texts), texts);
    const fault = await faultOfText(text);
    if (fault === undefined) continue;
    offences += 1;
    if (offences <= 5)
      print(`pipeline file, step ${step}: ${fault}\n  ${JSON.stringify(text.slice(0, 1_500))}`);
  }
  return offences;
}

function changed(random: Random, text: string, all: readonly string[]): string {
  const lines = text.split('\n');
  for (let times = random.between(0, 3); times > 0; times -= 1) {
    const at = random.below(lines.length);
    switch (random.below(4)) {
      case 0:
        lines.splice(at, 1);
        break;
      case 1:
        lines.splice(at, 0, lines[random.below(lines.length)] ?? '');
        break;
      case 2:
        lines.splice(at, 0, random.pick(random.pick(all).split('\n')));
        break;
      default:
        lines[at] = `${' '.repeat(random.below(6))}${lines[at]?.trim() ?? ''}`;
    }
  }
  return mutate(random, lines.join('\n'));
}

async function faultOfText(text: string): Promise<string | undefined> {
  try {
    const findings = await checkText(text);
    const lines = text.split('\n');
    for (const { at, rule } of findings) {
      const line = lines[at.line - 1];
      if (line === undefined || at.column < 1 || at.column > line.length + 1)
        return `${rule} stands at ${at.line}:${at.column}, where nothing is`;
    }
    const sources = new Map([['site.yaml', text]]);
    for (const format of formats) await formatFindings(findings, format, sources);
    return undefined;
  } catch (error) {
    return `it threw ${String(error)}`;
  }
}
