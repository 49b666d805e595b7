import type { Feature } from './feature.js';
import type { Stage } from './stage.js';

/** The result of a feature. */
export interface Played {
  readonly feature: Feature;
  readonly requests: number;
  /** The reason why the client fails; undefined if it does not. */
  readonly failure: string | undefined;
  /** The reason why it was skipped. */
  readonly skipped?: string;
}

/** Runs features one after another. */
export async function playAll(stage: Stage, features: readonly Feature[]): Promise<readonly Played[]> {
  const results: Played[] = [];
  for (const feature of features) {
    if (stage.isReference && feature.notOnLoki !== undefined) {
      results.push({ feature, requests: 0, failure: undefined, skipped: feature.notOnLoki });
      continue;
    }
    try {
      const { count } = await stage.play(feature);
      results.push({ feature, requests: count, failure: undefined });
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      results.push({ feature, requests: 0, failure });
    }
  }
  return results;
}

/** The results as a table for a terminal, and a count for each client. */
export function printTable(results: readonly Played[]): string {
  const rows = results.map(({ feature, requests, failure, skipped }) => [
    feature.client,
    feature.feature,
    failure === undefined ? `${requests} ${namesOf(feature.sends)}` : '-',
    failure !== undefined ? 'FAIL' : skipped === undefined ? 'pass' : `not on Loki: ${skipped}`,
  ]);
  const lines = layOut([['client', 'feature', 'requests sent', 'result'], ...rows]);
  const clients = [...new Set(results.map(({ feature }) => feature.client))];
  const counts = [...clients, undefined].map((client) => {
    const played = results.filter(({ skipped }) => skipped === undefined);
    const own = played.filter(({ feature }) => client === undefined || feature.client === client);
    const passed = own.filter(({ failure }) => failure === undefined).length;
    return [client ?? 'all', `${passed} of ${own.length} features pass`];
  });
  return [...lines, '', ...layOut(counts)].join('\n');
}

/** Lists at most three kinds of requests, to keep the table rows short. */
function namesOf(sends: readonly string[]): string {
  const more = sends.length - 3;
  return `${sends.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function layOut(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
