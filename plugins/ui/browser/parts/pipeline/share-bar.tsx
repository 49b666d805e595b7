import type { JSX } from 'preact';

/** A part of a whole, from 0 to 1, as a bar. */
export function ShareBar({ share }: { readonly share: number }): JSX.Element {
  return (
    <svg class="share-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="6" />
      <rect class="fill" width={Math.min(1, share) * 100} height="6" />
    </svg>
  );
}
