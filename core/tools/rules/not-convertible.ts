/** The reason why no single LogsQL query gives the series of an expression, in plain words. */
export class NotConvertible extends Error {}
