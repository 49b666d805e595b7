/** What was pushed, and when. Times in Unix milliseconds unless their name says otherwise. */

export interface PushedLine {
  readonly id: number;
  readonly level: string;
  /** The time of the line. */
  readonly atMs: number;
  /** Before this the backend cannot have had it. */
  readonly sentMs: number;
  /** From this on the backend has it; infinite while nobody knows. */
  takenMs: number;
}

const slotMs = 5_000;
export const levels = ['info', 'warn', 'error'] as const;

/** Every line of one tenant, in the order of arrival. */
export class Ledger {
  /** By the five seconds that they lie in. */
  readonly #lines = new Map<number, PushedLine[]>();
  readonly #byId = new Map<number, PushedLine>();

  add(line: PushedLine): void {
    const slot = Math.floor(line.atMs / slotMs);
    const near = this.#lines.get(slot) ?? [];
    this.#lines.set(slot, near);
    near.push(line);
    this.#byId.set(line.id, line);
  }

  find(id: number): PushedLine | undefined {
    return this.#byId.get(id);
  }

  /** The lines with `fromMs < time <= toMs`, in the order in which they were taken. */
  between(fromMs: number, toMs: number, level?: string): readonly PushedLine[] {
    const found: PushedLine[] = [];
    for (let slot = Math.floor(fromMs / slotMs); slot <= Math.floor(toMs / slotMs); slot += 1)
      for (const line of this.#lines.get(slot) ?? [])
        if (line.atMs > fromMs && line.atMs <= toMs && (level === undefined || line.level === level))
          found.push(line);
    return found.sort((a, b) => a.takenMs - b.takenMs);
  }
}

/** The text of a line, all of one length. */
export function textOf({ id, level }: Pick<PushedLine, 'id' | 'level'>): string {
  return `level=${level.padEnd(5, ' ')} n=${String(id).padStart(9, '0')}`;
}

export function idOf(text: string): number {
  return Number(text.slice(text.indexOf(' n=') + 3));
}

export interface Push {
  readonly url: string;
  readonly account: number;
  readonly ledger: Ledger;
}

/** Pushes lines in one request and writes them down. */
export async function push(
  { url, account, ledger }: Push,
  lines: readonly Pick<PushedLine, 'id' | 'level' | 'atMs'>[],
): Promise<void> {
  const sentMs = Date.now();
  const pushed = lines.map((line) => ({ ...line, sentMs, takenMs: Infinity }));
  for (const line of pushed) ledger.add(line);
  const streams = levels.map((level) => ({
    stream: { app: 'moving', level },
    values: pushed.filter((line) => line.level === level).map((line) => [`${line.atMs}000000`, textOf(line)]),
  }));
  const answer = await fetch(`${url}/insert/loki/api/v1/push?disable_message_parsing=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accountid: String(account) },
    body: JSON.stringify({ streams: streams.filter(({ values }) => values.length > 0) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the backend refused a push: ${answer.status} ${text}`);
  const takenMs = Date.now();
  for (const line of pushed) line.takenMs = takenMs;
}
