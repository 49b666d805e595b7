/** Whether a page of this origin may open a tail. Clients other than browsers send no origin; the comparison is case-insensitive. */
export function mayOpen(origin: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined || origin === '') return true;
  const asked = origin.toLowerCase();
  return allowed.some((entry) => entry === '*' || entry.toLowerCase().replace(/\/$/, '') === asked);
}
