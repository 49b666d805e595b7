import { defineStage, makeMatcher, mapSelectors, type ChangeMatchers } from 'ref-proxy/plugin';

export interface Options {
  readonly label: string;
  readonly value: string;
}

/** Adds a matcher to every selector of every request. It works on the syntax tree, so no query text can bypass it. */
export default defineStage<Options>({
  name: 'only-prod',
  summary: 'Lets every request see one environment only.',
  schema: {
    type: 'object',
    properties: {
      label: {
        type: 'string',
        minLength: 1,
        default: 'env',
        description: 'Label that is held to the value.',
      },
      value: {
        type: 'string',
        minLength: 1,
        default: 'production',
        description: 'Value that requests may see.',
      },
    },
    additionalProperties: false,
  },
  needs: [],
  gives: [],
  rest: 'once',
  create({ label, value }) {
    const narrow: ChangeMatchers = (matchers) => [...matchers, makeMatcher(label, '=', value)];
    return {
      handle: (exchange, rest) => rest(exchange.derive({ request: mapSelectors(exchange.request, narrow) })),
    };
  },
});
