/** A word of LogQL that the editor offers, with its description. */
export interface Word {
  readonly word: string;
  readonly info: string;
  /** The text to insert, with `${}` at the cursor's position; the word itself by default. */
  readonly insert?: string;
}

export const rangeFunctions: readonly Word[] = [
  ['count_over_time', 'How many lines came in each range'],
  ['rate', 'Lines per second'],
  ['bytes_over_time', 'Bytes of the lines in each range'],
  ['bytes_rate', 'Bytes of lines per second'],
  ['absent_over_time', '1 where no line came'],
  ['sum_over_time', 'Sum of an unwrapped value'],
  ['avg_over_time', 'Mean of an unwrapped value'],
  ['min_over_time', 'Least unwrapped value'],
  ['max_over_time', 'Greatest unwrapped value'],
  ['first_over_time', 'First unwrapped value'],
  ['last_over_time', 'Last unwrapped value'],
  ['stddev_over_time', 'Standard deviation of an unwrapped value'],
  ['stdvar_over_time', 'Variance of an unwrapped value'],
  ['quantile_over_time', 'Quantile of an unwrapped value, such as 0.95', 'quantile_over_time(0.95, ${})'],
  ['rate_counter', 'Growth per second of an unwrapped counter'],
].map(([word = '', info = '', insert]) => ({ word, info, insert: insert ?? `${word}(\${})` }));

export const aggregations: readonly Word[] = [
  ['sum', 'Sum over series'],
  ['avg', 'Mean over series'],
  ['min', 'Least of the series'],
  ['max', 'Greatest of the series'],
  ['count', 'Number of series'],
  ['stddev', 'Standard deviation over series'],
  ['stdvar', 'Variance over series'],
  ['topk', 'The k greatest series', 'topk(5, ${})'],
  ['bottomk', 'The k least series', 'bottomk(5, ${})'],
  ['approx_topk', 'About the k greatest series', 'approx_topk(5, ${})'],
  ['sort', 'Series by value, the least first'],
  ['sort_desc', 'Series by value, the greatest first'],
].map(([word = '', info = '', insert]) => ({ word, info, insert: insert ?? `${word}(\${})` }));

export const grouping: readonly Word[] = [
  { word: 'by', info: 'One series for each value of these labels', insert: 'by (${})' },
  { word: 'without', info: 'Leaves these labels out', insert: 'without (${})' },
];

/** Words that can follow a selector: line filters, parsers, formats, label filters. */
export const stages: readonly Word[] = [
  { word: '|=', info: 'Lines with this text', insert: '|= "${}"' },
  { word: '!=', info: 'Lines without this text', insert: '!= "${}"' },
  { word: '|~', info: 'Lines that match a regular expression', insert: '|~ "${}"' },
  { word: '!~', info: 'Lines that do not match a regular expression', insert: '!~ "${}"' },
  { word: '|>', info: 'Lines of a pattern, with <_> for anything', insert: '|> "${}"' },
  { word: '| json', info: 'Labels of the fields of JSON lines', insert: '| json' },
  { word: '| logfmt', info: 'Labels of key=value lines', insert: '| logfmt' },
  { word: '| pattern', info: 'Labels by a pattern such as <ip> - <_>', insert: '| pattern "${}"' },
  { word: '| regexp', info: 'Labels of named groups', insert: '| regexp "${}"' },
  { word: '| unpack', info: 'Labels packed into the line by an agent', insert: '| unpack' },
  {
    word: '| line_format',
    info: 'Another text for each line, from labels',
    insert: '| line_format "{{.${}}}"',
  },
  { word: '| label_format', info: 'Renames or makes labels', insert: '| label_format ${}' },
  { word: '| decolorize', info: 'Takes colour codes out of lines', insert: '| decolorize' },
  { word: '| drop', info: 'Leaves labels out', insert: '| drop ${}' },
  { word: '| keep', info: 'Keeps only these labels', insert: '| keep ${}' },
  { word: '| unwrap', info: 'The value of a label as a number', insert: '| unwrap ${}' },
  {
    word: '| detected_level',
    info: 'Only lines of these levels',
    insert: '| detected_level=~"${error|critical}"',
  },
];

export const conversions: readonly Word[] = [
  { word: 'bytes', info: 'Reads sizes such as 5KiB', insert: 'bytes(${})' },
  { word: 'duration', info: 'Reads durations such as 250ms, in seconds', insert: 'duration(${})' },
  { word: 'duration_seconds', info: 'The same', insert: 'duration_seconds(${})' },
];

export const durations: readonly Word[] = [
  ['1m', 'a minute'],
  ['5m', 'five minutes'],
  ['10m', 'ten minutes'],
  ['30m', 'half an hour'],
  ['1h', 'an hour'],
  ['1d', 'a day'],
].map(([word = '', info = '']) => ({ word, info }));
