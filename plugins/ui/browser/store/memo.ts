import { Component, h, type Attributes, type ComponentChildren, type ComponentType } from 'preact';

/** A component that is only rendered again if one of its properties has changed. */
export function memo<Properties extends object>(part: ComponentType<Properties>): ComponentType<Properties> {
  return class Memo extends Component<Properties> {
    override shouldComponentUpdate(next: Readonly<Properties>): boolean {
      const [before, after] = [new Map(Object.entries(this.props)), new Map(Object.entries(next))];
      return (
        before.size !== after.size || [...after].some(([name, value]) => !Object.is(value, before.get(name)))
      );
    }

    override render(): ComponentChildren {
      return h(part, this.props as Attributes & Properties);
    }
  };
}
