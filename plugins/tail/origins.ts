/** Whether a page of this origin may open a tail. No origin is no browser; what browsers send is compared without case. */
export function mayOpen(origin: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined || origin === '') return true;
  const asked = origin.toLowerCase();
  return allowed.some((entry) => entry === '*' || entry.toLowerCase().replace(/\/$/, '') === asked);
}
