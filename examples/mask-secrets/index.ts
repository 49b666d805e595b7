import { compileRegExp, defineStage, type Answer } from 'ref-proxy/plugin';

export interface Options {
  readonly patterns: readonly string[];
  readonly replacement: string;
}

type Stream = Extract<Answer, { readonly kind: 'streams' }>['streams'][number];

const metrics = {
  masked_lines_total: { type: 'counter', help: 'Log lines in which something was masked.' },
} as const;

/** Replaces secrets in log lines on their way back to the client. */
export default defineStage<Options, never, never, typeof metrics>({
  name: 'mask-secrets',
  summary: 'Replaces what looks like a secret in every log line.',
  schema: {
    type: 'object',
    properties: {
      patterns: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        default: ['Bearer [A-Za-z0-9._-]+', 'password=[^ ]+'],
        description: 'Regular expressions (RE2) of what must not be shown.',
      },
      replacement: { type: 'string', default: '***', description: 'What is shown instead.' },
    },
    additionalProperties: false,
  },
  needs: [],
  gives: [],
  rest: 'once',
  metrics,
  create(options, host) {
    const patterns = options.patterns.map((pattern) => compileRegExp(pattern));

    return {
      async handle(exchange, rest) {
        // The answer is changed here, so no stage below may return finished bytes.
        const answer = await rest(exchange.derive({ isFinal: false }));
        if (answer.kind !== 'streams') return answer;
        // Cached answers are shared, so change a copy.
        return { ...answer, streams: answer.streams.map(maskStream) };
      },
    };

    function maskStream(stream: Stream): Stream {
      return { ...stream, entries: stream.entries.map((entry) => ({ ...entry, line: mask(entry.line) })) };
    }

    function mask(line: string): string {
      const masked = patterns.reduce((text, pattern) => pattern.replaceAll(text, options.replacement), line);
      if (masked !== line) host.meters.masked_lines_total.add(1, {});
      return masked;
    }
  },
});
