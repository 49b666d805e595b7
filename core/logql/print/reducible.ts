/** Whether Loki replaces a regexp by plain text searches; such a filter prints like any other matcher. */
export function isReducibleRegExp(_pattern: string): boolean {
  return true;
}
