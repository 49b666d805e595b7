import type { Finding } from '../../core/kernel/pipeline/index.js';
import { draftPipeline } from '../../core/kernel/pipeline/draft.js';
import { packageBuiltIns } from '../../core/kernel/pipeline/index.js';
import { checkDraft } from '../../core/kernel/check/check-draft.js';
import { changedFile, type Changed } from './made.js';

const builtIns = packageBuiltIns();

/** The checker's results for many changed files. */
export class Figures {
  faults = 0;
  found = 0;
  atTheLine = 0;
  extra = 0;
  withFix = 0;
  fixTold = 0;
  harmless = 0;
  falseAlarms = 0;
  readonly misses: string[] = [];

  add(step: number, changed: Changed, findings: readonly Finding[]): void {
    const { kind, fault } = changed;
    const told = (what: string): void => {
      const shown = findings
        .slice(0, 4)
        .map(
          ({ rule, at, message, fix }) =>
            `    ${rule} ${at.line}:${at.column} ${message}${fix === undefined ? '' : ` [${fix}]`}`,
        );
      const line =
        fault === undefined
          ? ''
          : ` ${fault.lines.map((each) => each + 1).join('|')}: ${changed.text.split('\n')[fault.lines[0] ?? 0] ?? ''}`;
      this.misses.push([`${what}: step ${step}, ${kind}${line}`, ...shown].join('\n'));
    };
    if (fault === undefined) {
      this.harmless += 1;
      if (findings.length > 0) {
        this.falseAlarms += 1;
        told('false alarm');
      }
      return;
    }
    this.faults += 1;
    if (findings.length === 0) {
      told('not found');
      return;
    }
    this.found += 1;
    const isThere = findings.some(({ at }) => fault.lines.includes(at.line - 1));
    if (isThere) this.atTheLine += 1;
    else told('wrong line');
    this.extra += findings.length - 1;
    if (findings.length > 1) told('more than one');
    if (fault.fix === undefined) return;
    this.withFix += 1;
    if (findings.some(({ fix }) => fix !== undefined && fault.fix?.test(fix))) this.fixTold += 1;
    else told('no fix');
  }

  /** True if the checker keeps its promise (docs/checker.md). */
  get areGood(): boolean {
    return (
      this.found === this.faults &&
      this.atTheLine >= 0.99 * this.faults &&
      this.extra <= 0.05 * this.faults &&
      this.fixTold >= 0.95 * this.withFix &&
      this.falseAlarms === 0
    );
  }

  toString(): string {
    const share = (part: number, all: number): string =>
      `${part} of ${all} (${((100 * part) / Math.max(1, all)).toFixed(1)} %)`;
    return [
      `faults found ${share(this.found, this.faults)}`,
      `at the right line ${share(this.atTheLine, this.found)}`,
      `fix told ${share(this.fixTold, this.withFix)}`,
      `more findings than faults ${(this.extra / Math.max(1, this.found)).toFixed(3)} a fault`,
      `false alarms ${share(this.falseAlarms, this.harmless)}`,
    ].join('\n');
  }
}

/** The checker's findings in a text, with an empty environment. */
export async function findingsIn(text: string): Promise<readonly Finding[]> {
  const source = { name: 'site.yaml', path: '/nowhere/site.yaml', text, isFragment: false };
  const draft = await draftPipeline(source, { flags: new Map(), env: {} }, builtIns);
  return checkDraft(draft, { tiers: ['structure', 'meaning'] });
}

export async function measure(seed: number, count: number): Promise<Figures> {
  const figures = new Figures();
  for (let step = 0; step < count; step += 1) {
    const changed = changedFile(seed, step);
    figures.add(step, changed, await findingsIn(changed.text));
  }
  return figures;
}
