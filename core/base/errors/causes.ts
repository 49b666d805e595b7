/** Further causes are not looked at: nobody's errors go that deep, and one that is its own cause has no end. */
const mostCauses = 16;

/** What an error comes from, the nearest first; ends at what is no Error, at an error that was there before, and after 16. */
export function causesOf(error: Error): readonly Error[] {
  const seen = new Set<Error>([error]);
  let { cause } = error;
  while (cause instanceof Error && !seen.has(cause) && seen.size <= mostCauses) {
    seen.add(cause);
    ({ cause } = cause);
  }
  return [...seen].slice(1);
}
