/** Words that are spelled nearly alike. */

const maxCandidates = 5_000;
const maxLength = 100;

/** The candidates that someone may have meant who wrote `word`, the nearest first. */
export function nearWords(word: string, candidates: readonly string[], most = 3): readonly string[] {
  if (word === '' || word.length > maxLength) return [];
  const wanted = word.toLowerCase();
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  return candidates
    .slice(0, maxCandidates)
    .filter((candidate) => candidate !== word && candidate !== '' && candidate.length <= maxLength)
    .map((candidate) => [distanceOf(wanted, candidate.toLowerCase(), allowed), candidate] as const)
    .filter(([distance]) => distance <= allowed)
    .toSorted(([a, one], [b, other]) => a - b || (one < other ? -1 : 1))
    .slice(0, most)
    .map(([, candidate]) => candidate);
}

/** The distance for a choice: a word that contains the other is near, whatever its length. */
function distanceOf(wanted: string, candidate: string, allowed: number): number {
  const edits = editDistance(wanted, candidate);
  const [short, long] = wanted.length < candidate.length ? [wanted, candidate] : [candidate, wanted];
  return short.length >= 3 && long.includes(short) ? Math.min(edits, allowed) : edits;
}

/** The number of characters to insert, delete, replace, or swap with their neighbour. */
export function editDistance(a: string, b: string): number {
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min((old[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (old[j - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) least = Math.min(least, (older[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [older, old] = [old, row];
  }
  return old[b.length] ?? 0;
}
