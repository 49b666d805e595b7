import type { JSX } from 'preact';
import type { Marker } from '../model/match-marks.js';

/** A line with the matches of filters marked. */
export function LineText({ line, marker }: { readonly line: string; readonly marker: Marker }): JSX.Element {
  if (line === '') return <> </>;
  return (
    <>{marker(line).map(({ text, isMatch }, index) => (isMatch ? <mark key={index}>{text}</mark> : text))}</>
  );
}
