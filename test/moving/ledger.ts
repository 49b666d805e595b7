/** A pushed line and its times, in Unix milliseconds unless their names say otherwise. */

export interface PushedLine {
  readonly id: number;
  readonly level: string;
  /** The timestamp of the line. */
  readonly atMs: number;
  /** The time before which the backend cannot have it. */
  readonly sentMs: number;
  /** The time from which the backend has it; infinite until that is known. */
  takenMs: number;
}

const slotMs = 5_000;
export const levels = ['info', 'warn', 'error'] as const;

/** Every line of one tenant, in order of arrival. */
export class Ledger {
  /** Lines by slots of five seconds. */
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

  /** The lines with `fromMs < time <= toMs`, in the order in which they arrived. */
  between(fromMs: number, toMs: number, level?: string): readonly PushedLine[] {
    const found: PushedLine[] = [];
    for (let slot = Math.floor(fromMs / slotMs); slot <= Math.floor(toMs / slotMs); slot += 1)
      for (const line of this.#lines.get(slot) ?? [])
        if (line.atMs > fromMs && line.atMs <= toMs && (level === undefined || line.level === level))
          found.push(line);
    return found.sort((a, b) => a.takenMs - b.takenMs);
  }
}

/** The text of a line; all have the same length. */
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

/** Pushes lines in one request and records them. */
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
