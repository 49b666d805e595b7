/** A parsed template: its own body and the templates it defines by name. */
export interface Template {
  readonly body: TemplateList;
  readonly definitions: ReadonlyMap<string, TemplateList>;
}

export type TemplateList = readonly TemplateNode[];

/** What a template is made of; `line` counts from 1, `offset` is where the node stands in the source. */
export type TemplateNode =
  TextNode | ActionNode | IfNode | WithNode | RangeNode | TemplateCallNode | BreakNode | ContinueNode;

interface Positioned {
  readonly offset: number;
  readonly line: number;
}

export interface TextNode extends Positioned {
  readonly kind: 'text';
  readonly text: string;
}

/** `{{pipeline}}`: prints its value unless it declares or assigns. */
export interface ActionNode extends Positioned {
  readonly kind: 'action';
  readonly pipe: PipeNode;
}

interface Control extends Positioned {
  readonly pipe: PipeNode;
  readonly list: TemplateList;
  readonly elseList: TemplateList | undefined;
}

export interface IfNode extends Control {
  readonly kind: 'if';
}

export interface WithNode extends Control {
  readonly kind: 'with';
}

export interface RangeNode extends Control {
  readonly kind: 'range';
}

/** `{{template "name" pipeline}}`, and what `{{block}}` leaves behind. */
export interface TemplateCallNode extends Positioned {
  readonly kind: 'template';
  readonly name: string;
  readonly pipe: PipeNode | undefined;
}

export interface BreakNode extends Positioned {
  readonly kind: 'break';
}

export interface ContinueNode extends Positioned {
  readonly kind: 'continue';
}

/** Commands joined by `|`; `declarations` are the variables set by it (`$x :=`, or `$x =` when `isAssignment`). */
export interface PipeNode extends Positioned {
  readonly kind: 'pipe';
  readonly isAssignment: boolean;
  readonly declarations: readonly string[];
  readonly commands: readonly CommandNode[];
}

export interface CommandNode {
  readonly kind: 'command';
  readonly offset: number;
  readonly args: readonly ArgNode[];
}

export type ArgNode =
  | { readonly kind: 'identifier'; readonly offset: number; readonly name: string }
  | { readonly kind: 'dot'; readonly offset: number }
  | { readonly kind: 'nil'; readonly offset: number }
  | { readonly kind: 'bool'; readonly offset: number; readonly value: boolean }
  | { readonly kind: 'string'; readonly offset: number; readonly value: string; readonly source: string }
  /** `.a.b`: names without their dots. */
  | { readonly kind: 'field'; readonly offset: number; readonly names: readonly string[] }
  /** `$x.a`: the variable's name with its `$`, then fields. */
  | {
      readonly kind: 'variable';
      readonly offset: number;
      readonly name: string;
      readonly fields: readonly string[];
    }
  /** A parenthesised pipeline or a function, and fields behind it; the offset is that of the first field. */
  | {
      readonly kind: 'chain';
      readonly offset: number;
      readonly base: ArgNode;
      readonly fields: readonly string[];
    }
  | NumberNode
  | PipeNode;

/** A number constant: of an integer type when it is written as one, usable as float either way. */
export interface NumberNode {
  readonly kind: 'number';
  readonly offset: number;
  readonly source: string;
  readonly integer: bigint | undefined;
  readonly float: number | undefined;
  /** An imaginary or complex constant; LogQL's functions take none. */
  readonly isComplex: boolean;
}
