import { House, Lab } from './lab.js';
import type { Claim, Section } from './section.js';

/** The result of a claim. */
export interface Finding {
  readonly claim: Claim;
  readonly outcome: 'holds' | 'differs' | 'missing' | 'fails';
  /** The difference, or the error. */
  readonly why: string | undefined;
  readonly ms: number;
}

const patienceMs = 60_000;

/** Probes all claims, several at a time; reports each in the order of the table. */
export async function audit(
  sections: readonly Section[],
  backendUrl: string | undefined,
  atOnce: number,
  tell: (finding: Finding) => void,
): Promise<readonly Finding[]> {
  const claims = sections.flatMap((section) => section.claims);
  const findings = new Map<number, Finding>();
  const house = await House.open(backendUrl);
  let [next, told] = [0, 0];
  const work = async (): Promise<void> => {
    for (let at = next++; at < claims.length; at = next++) {
      const claim = claims[at];
      if (claim !== undefined) findings.set(at, await probe(house, claim));
      for (let done = findings.get(told); done !== undefined; done = findings.get((told += 1))) tell(done);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    await house.close();
  }
  return [...findings].sort(([a], [b]) => a - b).map(([, finding]) => finding);
}

async function probe(house: House, claim: Claim): Promise<Finding> {
  const lab = new Lab(house);
  const startedMs = Date.now();
  const finding = (outcome: Finding['outcome'], why?: string): Finding => {
    return { claim, outcome, why, ms: Date.now() - startedMs };
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`the probe has not ended after ${patienceMs} ms`));
    }, patienceMs);
  });
  try {
    await Promise.race([claim.probe(lab), late]);
    if (claim.differs !== undefined) return finding('differs', claim.differs);
    return claim.missing === undefined ? finding('holds') : finding('missing', claim.missing);
  } catch (error) {
    return finding('fails', error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
    await lab.close();
  }
}
